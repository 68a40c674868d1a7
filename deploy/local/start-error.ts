/** Why `npm start` cannot go on. The message is one line that says what to do. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
