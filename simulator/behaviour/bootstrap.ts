import type { Taint } from '../../karpenter/api.js';

/** What the machine's bootstrap tells its kubelet. */
export interface Bootstrap {
  readonly labels: Record<string, string>;
  readonly taints: readonly Taint[];
}

const taintEffects: readonly string[] = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

function setting(lines: readonly string[], name: string): readonly string[] {
  const line = lines.find((text) => text.startsWith(`${name}=`));
  const value = line?.slice(name.length + 1).trim() ?? '';
  return value === '' ? [] : value.split(',');
}

function parseLabel(text: string): readonly [string, string] {
  const separator = text.indexOf('=');
  if (separator <= 0) throw new Error(`KUBELET_NODE_LABELS: "${text}" should be key=value`);
  return [text.slice(0, separator), text.slice(separator + 1)];
}

function parseTaint(text: string): Taint {
  const [, key, value, effect] = /^([^=:]+)(?:=([^:]*))?:([A-Za-z]+)$/.exec(text) ?? [];
  if (key === undefined || effect === undefined || !taintEffects.includes(effect)) {
    throw new Error(`KUBELET_REGISTER_WITH_TAINTS: "${text}" should be key=value:Effect or key:Effect`);
  }
  return value === undefined || value === '' ? { key, effect } : { key, value, effect };
}

/**
 * Reads a VM's customData (base64): text whose lines may set KUBELET_NODE_LABELS and KUBELET_REGISTER_WITH_TAINTS.
 * @throws when one of them is malformed: the kubelet would not start
 */
export function parseBootstrap(customData: string | undefined): Bootstrap {
  const lines = Buffer.from(customData ?? '', 'base64')
    .toString('utf8')
    .split(/\r?\n/);
  return {
    labels: Object.fromEntries(setting(lines, 'KUBELET_NODE_LABELS').map(parseLabel)),
    taints: setting(lines, 'KUBELET_REGISTER_WITH_TAINTS').map(parseTaint),
  };
}
