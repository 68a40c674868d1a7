// Unchanged text is left alone: a screen reader announces what is set anew. Not every page has every element.
export function setText(element, text) {
  if (element !== null && element.textContent !== text) element.textContent = text;
}
