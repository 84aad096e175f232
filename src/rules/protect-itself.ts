import type { ToolCall } from '../core/hook-event.ts'
import type { SealBreak } from '../guard-engine/contract.ts'
import { findTampering } from '../guard-engine/seal/tampering/find-tampering.ts'
import type { Rule, RuleAnswer, Scene } from './contract.ts'

/**
 * The guard's own settings, hooks and ledger, and whatever tells an agent which hooks to run, are not for the agent to change.
 * No setting switches this off: a person's unlock lifts it for a while.
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
  const what = findTampering(call, { cwd: event.cwd, root: event.root, world, edits: history.edits })
  if (what === null) return isUnlocked(scene) ? announceUnlock(scene) : null
  if (!isUnlocked(scene)) return { deny: denial(what) }
  // Each use is noted, so that the ledger tells what the person's unlock was used for.
  const used = { kind: 'warned', about: `unlock used: ${what}` } as const
  const said = announceUnlock(scene)
  return { ...said, remember: [...(said?.remember ?? []), used] }
}

function denial(what: string): string {
  return [
    `Self-protection: ${what}.`,
    "Gantry's settings, hooks and ledger, and the agent's hook configuration, stay as they are while an agent works.",
    'Go on with the task without this step. If the change is needed, tell the person what and why: they can allow it with `gantry guard unlock` in a terminal of their own.',
  ].join(' ')
}

/** The latest time ever seen counts: a clock that is set back makes no unlock longer. */
function isUnlocked({ history, nowMs }: Scene): boolean {
  return history.gate.unlockedUntilMs > Math.max(nowMs, history.session.latestMs)
}

/** Once for each unlock, whether it is used or not: whoever did not unlock should hear that somebody did. */
function announceUnlock({ history }: Scene): RuleAnswer | null {
  const until = history.gate.unlockedUntilMs
  const about = `unlocked until ${until}`
  if (history.session.warned.includes(about)) return null
  return {
    notice: `Gantry's self-protection is unlocked until ${new Date(until).toISOString()}. If you did not do that, run \`gantry guard lock\`.`,
    remember: [{ kind: 'warned', about }],
  }
}

function judgeChange(scene: Scene): RuleAnswer | null {
  const breaks = scene.facts.seal ?? []
  if (breaks.length === 0) return null
  if (isUnlocked(scene)) return announceUnlock(scene)
  return {
    deny: `Self-protection: ${list(breaks)}. This differs from what was sealed, so the change of settings is not taken over.`,
    notice: notice(breaks),
  }
}

function tellAtStart(scene: Scene): RuleAnswer | null {
  const breaks = scene.facts.seal ?? []
  if (breaks.length === 0 || isUnlocked(scene)) return null
  return {
    context: `Files that steer the guard differ from their seal: ${list(breaks)}. The person has been told; they are not to be changed back or further by the agent.`,
    notice: notice(breaks),
  }
}

/**
 * A broken seal is told and does not hold the agent: the person may have made the change, and the agent cannot mend it.
 * It is told at every end, so that no VERIFIED stands without it, until the person restores the file or accepts it.
 */
function tellAtStop(scene: Scene): RuleAnswer | null {
  const breaks = scene.facts.seal ?? []
  return breaks.length === 0 || isUnlocked(scene) ? null : { notice: notice(breaks) }
}

function notice(breaks: readonly SealBreak[]): string {
  return `Gantry: the seal over files that steer the guard is broken: ${list(breaks)}. If you made the change, accept it with \`gantry guard seal\`; if not, restore the file and look at \`gantry guard trace\`.`
}

function list(breaks: readonly SealBreak[]): string {
  const named = breaks.slice(0, 5).map(({ path, what }) => `${path} (${what})`)
  const more = breaks.length - named.length
  return `${named.join(', ')}${more === 0 ? '' : ` and ${more} more`}`
}
