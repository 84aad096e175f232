import type { ToolCall } from '../core/hook-event.ts'
import type { SealBreak } from '../guard-engine/contract.ts'
import { findTampering } from '../guard-engine/seal/tampering/find-tampering.ts'
import type { Rule, RuleAnswer, Scene } from './contract.ts'

/**
 * Denies changes to the guard's settings, hooks and ledger, and to every file that configures an agent's hooks. No setting disables this.
 * Only a person can lift it for a while with an unlock.
 */
export const protectItself: Rule = {
  name: 'protect-itself',
  on: ['tool_before', 'config_change', 'session_start', 'stop'],
  wants: ({ event }) => (event.kind === 'tool_before' ? [] : ['seal']),
  judge: (scene) => {
    switch (scene.event.kind) {
      case 'tool_before':
        return judgeCall(scene, scene.event.call)
      case 'config_change':
        return judgeChange(scene)
      case 'session_start':
        return tellAtStart(scene)
      case 'stop':
        return tellAtStop(scene)
      default:
        return null
    }
  },
}

function judgeCall(scene: Scene, call: ToolCall): RuleAnswer | null {
  const { event, world, history } = scene
  const what = findTampering(call, {
    agent: event.agent,
    cwd: event.cwd,
    root: event.root,
    world,
    edits: () => history.edits,
  })
  if (what === null) return isUnlocked(scene) ? announceUnlock(scene) : null
  if (!isUnlocked(scene)) return { deny: denial(what) }
  // Each use is recorded, so the ledger shows what an unlock was used for.
  const used = { kind: 'warned', about: `unlock used: ${what}` } as const
  const notice = announceUnlock(scene)
  return { ...notice, remember: [...(notice?.remember ?? []), used] }
}

function denial(what: string): string {
  return [
    `Self-protection: ${what}.`,
    "An agent must not change Gantry's settings, hooks and ledger, or the hook configuration of an agent.",
    'Continue the task without this step. If the change is needed, tell the user what and why: they can allow it with `gantry guard unlock` in their own terminal.',
  ].join(' ')
}

/** Uses the latest time ever seen, so setting the clock back does not extend an unlock. */
function isUnlocked({ history, nowMs }: Scene): boolean {
  return history.gate.unlockedUntilMs > Math.max(nowMs, history.session.latestMs)
}

/** Once for each unlock, used or not: a user who did not unlock should notice it. */
function announceUnlock({ history }: Scene): RuleAnswer | null {
  const until = history.gate.unlockedUntilMs
  const about = `unlocked until ${until}`
  if (history.session.warned.includes(about)) return null
  return {
    notice: `Gantry's self-protection is unlocked until ${new Date(until).toISOString()}. If you did not do this, run \`gantry guard lock\`.`,
    remember: [{ kind: 'warned', about }],
  }
}

function judgeChange(scene: Scene): RuleAnswer | null {
  const breaks = scene.facts.seal ?? []
  if (breaks.length === 0) return null
  if (isUnlocked(scene)) return announceUnlock(scene)
  return {
    deny: `Self-protection: ${list(breaks)}. This differs from the seal, so the new settings are rejected.`,
    notice: notice(breaks),
  }
}

function tellAtStart(scene: Scene): RuleAnswer | null {
  const breaks = scene.facts.seal ?? []
  if (breaks.length === 0 || isUnlocked(scene)) return null
  return {
    context: `Files that control the guard differ from their seal: ${list(breaks)}. The user has been notified. Do not restore or change these files.`,
    notice: notice(breaks),
  }
}

/**
 * A broken seal is reported but does not block the agent: the user may have made the change, and the agent cannot repair it. It is reported
 * at every stop, so that a VERIFIED never appears without it, until the user restores or accepts the file.
 */
function tellAtStop(scene: Scene): RuleAnswer | null {
  const breaks = scene.facts.seal ?? []
  return breaks.length === 0 || isUnlocked(scene) ? null : { notice: notice(breaks) }
}

function notice(breaks: readonly SealBreak[]): string {
  return `Gantry: files that control the guard differ from their seal: ${list(breaks)}. If you made the change, accept it with \`gantry guard seal\`: until then, settings count as they were sealed. If not, restore the file and check \`gantry guard trace\`.`
}

function list(breaks: readonly SealBreak[]): string {
  const named = breaks.slice(0, 5).map(({ path, what }) => `${path} (${what})`)
  const more = breaks.length - named.length
  return `${named.join(', ')}${more === 0 ? '' : ` and ${more} more`}`
}
