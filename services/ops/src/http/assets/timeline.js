// The list of what happened.
import { setText } from './set-text.js';
import { showList } from './show-list.js';

const list = document.querySelector('[data-timeline]');
const template = document.querySelector('[data-event-template]');

export function showEvents(events) {
  if (list === null) return;
  showList(list, events.slice(0, Number(list.dataset.most)), ({ id }) => id, item);
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
