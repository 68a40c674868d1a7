/**
 * Options of a MongoDB client. The services repeat what their short time limits end; a test that takes the steps of a
 * service itself does not, and has these.
 */
export const longTimeouts = {
  serverSelectionTimeoutMS: 60_000,
  waitQueueTimeoutMS: 60_000,
  connectTimeoutMS: 60_000,
  socketTimeoutMS: 60_000,
};
