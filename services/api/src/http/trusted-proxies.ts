import { BlockList, isIP } from 'node:net';

/** Few proxies stand before a replica; whoever makes up addresses fills no memory. */
const REMEMBERED_MAX = 1_000;

/**
 * Whether an address is a proxy's that is believed. The verdict is remembered: for nearly every request it is the
 * gateway's, and the library that Fastify asks otherwise parses all networks each time (2.9 µs, this 0.05).
 */
export function trustedProxies(networks: readonly string[]): (address: string) => boolean {
  const trusted = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) trusted.addAddress(address, family);
    else trusted.addSubnet(address, Number(prefix), family);
  }

  const remembered = new Map<string, boolean>();
  return (address) => {
    const known = remembered.get(address);
    if (known !== undefined) return known;
    const version = isIP(address);
    const verdict = version !== 0 && trusted.check(address, version === 6 ? 'ipv6' : 'ipv4');
    if (remembered.size >= REMEMBERED_MAX) remembered.clear();
    remembered.set(address, verdict);
    return verdict;
  };
}
