/* The health check of a member (mongosh --nodb): brings the replica set into being, then tells whether this member
 * serves in one that has a primary. Every step may be repeated, by all members at once.
 *
 * mongo-1 begins the set and makes the administrator; the services' accounts are deploy/mongodb's.
 * The primary takes in further members as they appear (profile "three-members"); it never drops one.
 */
const members = ['mongo-1', 'mongo-2', 'mongo-3'];
const self = process.env.MEMBER;
const environment = process.env;

function connect(host, { login = '', withinMs = 2_000 } = {}) {
  const options = `directConnection=true&serverSelectionTimeoutMS=${withinMs}&connectTimeoutMS=${withinMs}`;
  return new Mongo(`mongodb://${login}${host}:27017/?${options}`).getDB('admin');
}

function connectAsAdmin(host) {
  return connect(host, { login: `admin:${encodeURIComponent(environment.MONGODB_ADMIN_PASSWORD)}@` });
}

function outcome(attempt) {
  try {
    // Not "return attempt()": mongosh would not wait for it in here.
    const value = attempt();
    return value;
  } catch {
    return undefined;
  }
}

/** MongoDB lets somebody without a name, on the same machine, make the first user, and nothing else after that. */
function begin() {
  const here = connect('127.0.0.1');
  if (!here.hello().setName) {
    if (self !== members[0]) return;
    here.adminCommand({ replSetInitiate: { _id: 'rs0', members: [{ _id: 0, host: `${self}:27017` }] } });
  }
  for (let tries = 0; tries < 50 && !here.hello().isWritablePrimary; tries++) sleep(100);
  if (!here.hello().isWritablePrimary) return;
  here.createUser({ user: 'admin', pwd: environment.MONGODB_ADMIN_PASSWORD, roles: ['root'] });
}

function complete(admin) {
  const config = admin.adminCommand({ replSetGetConfig: 1 }).config;
  const known = config.members.map(({ host }) => host);
  for (const host of members.map((name) => `${name}:27017`)) {
    if (known.includes(host)) continue;
    const hello = outcome(() => connect(host.split(':')[0], { withinMs: 500 }).hello());
    if (hello === undefined || hello.setName) continue;
    const _id = 1 + Math.max(...config.members.map((member) => member._id));
    config.members.push({ _id, host });
    config.version++;
    admin.adminCommand({ replSetReconfig: config });
    break; // one at a time, as MongoDB wants it; the next check takes the next one
  }
}

outcome(begin);
const admin = outcome(() => connectAsAdmin('127.0.0.1'));
const hello = connect('127.0.0.1').hello();
if (hello.isWritablePrimary && admin) complete(admin);
const serves =
  (hello.isWritablePrimary && admin !== undefined) || (hello.secondary && hello.primary !== undefined);
if (!serves) {
  print(
    hello.setName
      ? 'the replica set has no primary, or this member does not follow it'
      : 'not in a replica set yet',
  );
  quit(1);
}
