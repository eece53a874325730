import { log } from '@temporalio/activity';

import type { Orphan, SweepView, TaggedMachine } from '../karpenter/orphan.js';
import { findOrphans, keptWhy, markedWorkflows, ownerOfOrphan } from '../karpenter/orphan.js';
import type { Node, NodeClaim } from '../karpenter/api.js';
import { nodePoolLabel, waitingTaint, workflowAnnotation } from '../karpenter/labels.js';
import { hasTaint } from '../karpenter/taints.js';
import type { SweepActivities } from '../workflows/activityInterfaces.js';
import { rolloutWorkflowId } from '../workflows/ids.js';
import type { SweepFinding, SweepInput, SweepReport } from '../workflows/sweepTypes.js';
import type { ActivityEnvironment } from './environment.js';
import { checkCluster } from './environment.js';
import { openReplacement } from './drain.js';
import { nodeClaimSubject, recordEvent } from './kubernetes/events.js';
import { deleteNodeClaim, nodeClaimCollection, readNodeClaim } from './kubernetes/nodeClaims.js';
import { nodeCollection } from './kubernetes/nodes.js';
import { listPodsOnNode } from './kubernetes/pods.js';
import { applyMarkChanges } from './markWaiting.js';
import { releaseNode } from './release.js';
import { unlessPaused } from './killSwitch.js';
import type { ResetRollout } from './temporal/stuckRollouts.js';
import type { OrphanMachines } from './orphanDeletion.js';
import { bringDeletionToItsEnd } from './orphanDeletion.js';

/** How far a sweep may go. */
export interface SweepSettings {
  /** `report`: NodeClaims and VMs are only reported; `delete`: they are deleted. Taints come off in either case. */
  readonly mode: 'report' | 'delete';
  /** NodeClaims and VMs younger than this are left alone, in milliseconds. */
  readonly minAgeMs: number;
  /** So many NodeClaims and VMs are deleted in one sweep at the most. */
  readonly maxDeletions: number;
}

/** The VMs of the cluster, whoever made them. */
export interface Machines extends OrphanMachines {
  list(): Promise<readonly TaggedMachine[]>;
}

/** Whether a workflow of that id is at work now. */
export type IsWorkflowRunning = (workflowId: string) => Promise<boolean>;
/** Has the rollouts of a cluster go on that cannot by themselves; answers which. */
export type ResetStuckRollouts = (cluster: string) => Promise<readonly ResetRollout[]>;

/** Creates the activity that looks for orphans. */
export function createSweepActivities(
  environment: ActivityEnvironment,
  isRunning: IsWorkflowRunning,
  machines: Machines,
  settings: SweepSettings,
  resetStuck: ResetStuckRollouts,
): SweepActivities {
  const sweeper = new Sweeper(environment, isRunning, machines, settings, resetStuck);
  return { sweep: (input) => unlessPaused(environment.killSwitch, () => sweeper.sweep(input)) };
}

class Sweeper {
  constructor(
    private readonly environment: ActivityEnvironment,
    private readonly isRunning: IsWorkflowRunning,
    private readonly machines: Machines,
    private readonly settings: SweepSettings,
    private readonly resetStuck: ResetStuckRollouts,
  ) {}

  async sweep({ cluster }: SweepInput): Promise<SweepReport> {
    checkCluster(this.environment, cluster);
    const olderThanMs = Date.now() - this.settings.minAgeMs;
    const view = await this.#look();
    const running = await this.#running(markedWorkflows(view));
    const orphans = findOrphans(view, running, olderThanMs);
    const findings = [
      ...(await this.#resetRollouts(cluster)),
      ...(await this.#sweepWaitingTaints(cluster, view.nodes)),
    ];
    let deletions = 0;
    let left = 0;
    for (const orphan of orphans) {
      const isDeletion = ['nodeClaim', 'deletion', 'virtualMachine'].includes(orphan.kind);
      if (isDeletion && deletions >= this.settings.maxDeletions) {
        left += 1;
        continue;
      }
      if (await this.#isTakenUp(orphan)) continue;
      const finding = await this.#deal(orphan);
      if (isDeletion && ['removed', 'deleting'].includes(finding.action)) deletions += 1;
      log.warn('orphan', { ...finding });
      findings.push(finding);
    }
    return { findings, left };
  }

  /** Machines before NodeClaims: a VM whose NodeClaim is seen to be missing had lost it before. A list that fails fails the sweep. */
  async #look(): Promise<SweepView> {
    const { kubernetes, owner } = this.environment;
    const machines = await this.machines.list();
    const [nodeClaims, nodes] = await Promise.all([
      nodeClaimCollection.list(kubernetes),
      nodeCollection.list(kubernetes),
    ]);
    return { owner, machines, nodeClaims: nodeClaims.items, nodes: nodes.items };
  }

  /** Asked by id, one by one: a list of running workflows is behind the truth. */
  async #running(workflowIds: ReadonlySet<string>): Promise<ReadonlySet<string>> {
    const running = new Set<string>();
    for (const workflowId of workflowIds) if (await this.isRunning(workflowId)) running.add(workflowId);
    return running;
  }

  /** Between the look and now another run may have taken it up: the same names stand for the next round, too. */
  async #isTakenUp(orphan: Orphan): Promise<boolean> {
    if (orphan.kind === 'virtualMachine') {
      const { nodeClaim = '' } = orphan.machine;
      return (await readNodeClaim(this.environment.kubernetes, nodeClaim)) !== undefined;
    }
    const workflowId = ownerOfOrphan(orphan);
    return workflowId !== undefined && (await this.isRunning(workflowId));
  }

  async #resetRollouts(cluster: string): Promise<SweepFinding[]> {
    const reset = await this.resetStuck(cluster);
    const findings = reset.map(({ workflowId: name, why }): SweepFinding => {
      return { kind: 'rollout', name, why, action: 'reset' };
    });
    for (const finding of findings) log.warn('rollout reset', { ...finding });
    return findings;
  }

  async #sweepWaitingTaints(cluster: string, nodes: readonly Node[]): Promise<SweepFinding[]> {
    const findings: SweepFinding[] = [];
    const byPool = new Map<string, boolean>();
    for (const node of nodes) {
      const pool = node.metadata.labels?.[nodePoolLabel];
      if (pool === undefined || !hasTaint(node, waitingTaint)) continue;
      const isRunning = byPool.get(pool) ?? (await this.isRunning(rolloutWorkflowId(cluster, pool)));
      byPool.set(pool, isRunning);
      if (isRunning) continue;
      const { name } = node.metadata;
      await applyMarkChanges(this.environment.kubernetes, [{ node: name, isWaiting: false }]);
      findings.push({
        kind: 'waitingTaint',
        name,
        why: `no rollout of NodePool ${pool} is running`,
        action: 'removed',
      });
    }
    return findings;
  }

  #endDeletion(nodeClaim: NodeClaim): Promise<SweepFinding['action']> {
    const mayDelete = this.settings.mode === 'delete';
    return bringDeletionToItsEnd(this.environment, this.machines, nodeClaim, mayDelete);
  }

  async #deal(orphan: Orphan): Promise<SweepFinding> {
    const { kubernetes } = this.environment;
    const noWorkflow = 'no workflow is replacing it';
    switch (orphan.kind) {
      case 'taint': {
        const { node, nodeClaim } = orphan;
        const workflowId = node.metadata.annotations?.[workflowAnnotation] ?? '';
        await releaseNode(this.environment, { node: node.metadata.name, nodeClaim: nodeClaim?.metadata, workflowId });
        return { kind: 'taint', name: node.metadata.name, why: noWorkflow, action: 'removed' };
      }
      case 'condition': {
        const { nodeClaim, workflowId } = orphan;
        await releaseNode(this.environment, { node: undefined, nodeClaim: nodeClaim.metadata, workflowId });
        return { kind: 'condition', name: nodeClaim.metadata.name, why: noWorkflow, action: 'removed' };
      }
      case 'reservation': {
        const { name } = orphan.node.metadata;
        await openReplacement(this.environment, name);
        return { kind: 'reservation', name, why: 'what it replaces is gone', action: 'removed' };
      }
      case 'nodeClaim': {
        const { nodeClaim, nodeName, why } = orphan;
        const { name, uid } = nodeClaim.metadata;
        const stays = keptWhy(await listPodsOnNode(kubernetes, nodeName));
        const isKept = stays !== undefined || this.settings.mode === 'report';
        if (!isKept) await deleteNodeClaim(kubernetes, name, uid);
        // Its finalizer keeps it until the VM is gone.
        const action = isKept ? keptAction(stays) : await this.#endDeletion(nodeClaim);
        await recordEvent(kubernetes, nodeClaimSubject(name, uid), 'Warning', 'Orphan', `${why}; ${action}`);
        return { kind: 'nodeClaim', name, why, action };
      }
      case 'deletion': {
        const { nodeClaim, nodeName } = orphan;
        const { name, uid } = nodeClaim.metadata;
        const why = 'it has been deleted, and no workflow brings that to its end';
        const stays = keptWhy(await listPodsOnNode(kubernetes, nodeName));
        const action = stays === undefined ? await this.#endDeletion(nodeClaim) : keptAction(stays);
        await recordEvent(kubernetes, nodeClaimSubject(name, uid), 'Warning', 'Orphan', `${why}; ${action}`);
        return { kind: 'deletion', name, why, action };
      }
      case 'virtualMachine': {
        const { machine, why } = orphan;
        if (this.settings.mode === 'delete') await this.machines.beginDelete(machine.name);
        const action = this.settings.mode === 'delete' ? 'removed' : 'reported';
        return { kind: 'virtualMachine', name: machine.name, why, action };
      }
    }
  }
}

function keptAction(stays: string | undefined): SweepFinding['action'] {
  return stays === undefined ? 'reported' : `stays: ${stays}`;
}
