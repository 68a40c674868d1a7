// Shows a list of what has a key. An item that stays keeps its element, which is not moved unless the order changes:
// taken out and put back, it would lose focus and selection.
export function showList(list, items, keyOf, elementOf) {
  const shown = new Map([...list.children].map((element) => [element.dataset.key, element]));
  const elements = items.map((item) => elementOf(shown.get(keyOf(item)), item));
  for (const element of shown.values()) {
    if (!elements.includes(element)) element.remove();
  }
  for (const [index, element] of elements.entries()) {
    const there = list.children[index] ?? null;
    if (there !== element) list.insertBefore(element, there);
  }
}
