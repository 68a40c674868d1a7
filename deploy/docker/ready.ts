/** A container's health check: exit code 0 while the service's own readiness is 200. */
const url = `http://127.0.0.1:${process.env['INTERNAL_PORT']}/readyz`;
const ready = await fetch(url, { signal: AbortSignal.timeout(2_500) }).catch((error: Error) => error);
if (!(ready instanceof Response && ready.ok)) {
  process.stderr.write(ready instanceof Response ? `not ready: ${ready.status}\n` : `${ready.message}\n`);
  process.exitCode = 1;
}
