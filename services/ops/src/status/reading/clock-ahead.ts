/**
 * How much a server's clock is ahead of this machine's, in ms; negative where it is behind. The server reads its clock at
 * some time between question and answer: what that explains is no difference.
 * @param ask the server's time, in ms since 1970
 */
export async function clockAhead(ask: () => Promise<number>): Promise<number> {
  const askedAt = Date.now();
  const time = await ask();
  const answeredAt = Date.now();
  return Math.max(0, time - answeredAt) + Math.min(0, time - askedAt);
}
