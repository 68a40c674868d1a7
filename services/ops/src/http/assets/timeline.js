// The list of what happened. An event that stays keeps its element, so that selection and scrolling stay where they are.
import { setText } from './set-text.js';

const list = document.querySelector('[data-timeline]');
const template = document.querySelector('[data-event-template]');

export function showEvents(events) {
  if (list === null) return;
  const shown = new Map([...list.children].map((element) => [element.dataset.key, element]));
  const most = Number(list.dataset.most);
  list.replaceChildren(...events.slice(0, most).map((event) => item(shown.get(event.id), event)));
}

function item(element = template.content.firstElementChild.cloneNode(true), event) {
  element.dataset.key = event.id;
  element.dataset.level = event.level;
  const time = element.querySelector('time');
  time.dateTime = new Date(event.at).toISOString();
  setText(time, event.when);
  setText(element.querySelector('[data-kind]'), event.kindText);
  setText(element.querySelector('[data-text]'), event.text);
  setText(element.querySelector('[data-lasted]'), event.lasted);
  return element;
}
