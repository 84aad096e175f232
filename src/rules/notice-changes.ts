import { counted } from '../core/counted.ts'
import type { HookEvent } from '../core/hook-event.ts'
import type { UnseenChange } from '../guard-engine/contract.ts'
import { newlyMade } from '../guard-engine/history/protection.ts'
import { controlPattern } from '../guard-engine/protection/protected-index.ts'
import type { Rule, RuleAnswer, Scene } from './contract.ts'

/**
 * Names protected files that changed although no rule refused the call, with the call during which it happened, and refuses the stop until a
 * person has seen it. A change between two calls may be a person's own: it is reported, and blocks nothing.
 */
export const noticeChanges: Rule = {
  name: 'notice-changes',
  on: ['session_start', 'prompt', 'tool_before', 'tool_after', 'stop', 'session_end'],
  wants: (scene) => (isOn(scene) && mayMatter(scene.event) ? ['protected'] : []),
  judge(scene) {
    if (!isOn(scene)) return null
    switch (scene.event.kind) {
      case 'session_start':
        return atStart(scene)
      case 'tool_before':
        return afterCall(scene)
      case 'tool_after':
        return afterCall(scene) ?? whyReadOnly(scene, scene.event.outcome.output)
      case 'stop':
        return atStop(scene)
      default:
        return null
    }
  },
}

const partialNotice =
  'Gantry guard: this project has more than 2,000 directories. In the 2,000 nearest to its top every change of a protected file is noticed; in the others a call is denied if it names the file, and any other change stays unnoticed.'

function atStart({ facts, history, event }: Scene): RuleAnswer | null {
  const isNew = event.kind === 'session_start' && event.source !== 'compact'
  const made = isNew ? history.protection.unseen.filter(({ by }) => by !== null) : []
  const list = listOf(made)
  const { partial, kernelOff } = facts.protected ?? {}
  const off =
    kernelOff === undefined
      ? []
      : [
          `Gantry guard: \`enforcement\` is \`kernel\`, but protected files are not read-only for commands here: ${kernelOff}. Changes are noticed after the call and put back.`,
        ]
  const open =
    made.length === 0
      ? []
      : [
          `Gantry guard: calls of an earlier session changed protected files, and no person has acknowledged it:\n${list}\nAcknowledge it with \`${command}\` in your terminal. Until then, the end of the work is refused.`,
        ]
  const notices = [...open, ...(partial === true ? [partialNotice] : []), ...off]
  if (notices.length === 0) return null
  const context = `Calls of an earlier session changed protected files:\n${list}\nLeave them as they are now: the user decides. Tell the user which files changed. The end of your work is refused until a person has seen it (\`${command}\`, in their own terminal).`
  return { notice: notices.join('\n\n'), ...(made.length > 0 && { context }) }
}

/** A command that failed because of the mounts gets the reason, once. */
function whyReadOnly({ history, settings, event }: Scene, output: string): RuleAnswer | null {
  if (settings.fileProtection.enforcement !== 'kernel' || history.session.warned.includes(readOnlyHint))
    return null
  if (!('call' in event) || event.call.action.kind !== 'shell' || !readOnlyFailure.test(output)) return null
  return {
    context:
      "Gantry guard: for commands, protected files and the guard's own files are mounted read-only, and programs cannot gain rights. If that made this command fail, do the rest without it, and tell the user what you would change and why.",
    remember: [{ kind: 'warned', about: readOnlyHint }],
  }
}

const readOnlyHint = 'read-only files'
const readOnlyFailure =
  /read-only file system|EROFS|device or resource busy|EBUSY|no new privileges|operation not permitted/i

function isOn({ settings }: Pick<Scene, 'settings'>): boolean {
  const { enabled, enforcement, protectedPatterns } = settings.fileProtection
  return enabled && enforcement !== 'read' && protectedPatterns.length > 0
}

/** Reading changes nothing. */
function mayMatter(event: HookEvent): boolean {
  return !('call' in event) || event.call.action.kind !== 'read'
}

function afterCall({ history, facts, settings }: Scene): RuleAnswer | null {
  const made = newlyMade({ history, facts })
  if (made.length === 0) return null
  const list = listOf(made)
  const isBack = made.every(({ restored }) => restored === true)
  const next = isBack
    ? `They were put ${made.every(({ what }) => what === 'new') ? 'aside' : 'back'}.`
    : `Leave them as they are now: the user decides. ${settings.fileProtection.restore === 'never' ? '' : 'Do not try to repair them.'}`
  return {
    context: `Protected files changed during this call:\n${list}\n${next} Do not do this again. Tell the user which files changed and why. The end of your work is refused until a person has seen it (\`${command}\`, in their own terminal).`,
    notice: `Gantry guard: protected files changed during a call of the agent:\n${list}\nAcknowledge it with \`${command}\` in your terminal.`,
  }
}

const command = 'gantry guard seen'

function atStop(scene: Scene): RuleAnswer | null {
  const { unseen, refusals } = scene.history.protection
  if (unseen.length === 0) return null
  const made = unseen.filter(({ by }) => by !== null)
  const left = unseen.filter(({ by, left }) => by === null && left !== null)
  const bound = made.length > 0 ? scene.settings.checklist.maxRefusals : left.length > 0 ? 1 : 0
  if (refusals < bound) return refusal([...made, ...left], refusals + 1, bound)
  const notice = `Gantry guard: protected files changed, and the change is not acknowledged:\n${listOf(unseen)}\n${
    made.length > 0
      ? `Acknowledge it with \`${command}\` in your terminal.`
      : 'If you made these changes, nothing is to be done.'
  }`
  if (made.length === 0) return { notice, remember: [{ kind: 'changes_reported' }] }
  const why = `protected files changed: ${made.map(({ path }) => path).join(', ')}`.slice(0, 2_000)
  return { notice, remember: [{ kind: 'ended', state: 'CAPPED', tree: null, why }] }
}

function refusal(changes: readonly UnseenChange[], number: number, of: number): RuleAnswer {
  return {
    refuse: [
      `Gantry guard: protected files changed, and no person has seen it yet (refusal ${number} of ${of}).`,
      '',
      listOf(changes),
      '',
      'Do not change these files, and do not try to restore them. Tell the user in your last message which files changed, which command did it and why.',
      `A person lets it pass with \`${command}\` in their own terminal, or narrows the patterns: middleware.file_protection.protected_patterns in harness.json.`,
    ].join('\n'),
    notice: `Gantry guard: protected files changed:\n${listOf(changes)}\nAcknowledge it with \`${command}\` in your terminal.`,
    remember: [{ kind: 'changes_refused' }],
  }
}

const maxListed = 10

function listOf(changes: readonly UnseenChange[]): string {
  const lines = changes.slice(0, maxListed).map((change) => `- ${change.path}: ${described(change)}`)
  const more = changes.length - lines.length
  return [...lines, ...(more > 0 ? [`- and ${counted(more, 'more change', 'more changes')}`] : [])].join('\n')
}

function described({ what, by, left, leftEarlier, at, pattern, restored, why, aside }: UnseenChange): string {
  const matches =
    pattern === ''
      ? "the guard's record of the protected files"
      : pattern === controlPattern
        ? pattern
        : `pattern \`${pattern}\``
  const when =
    by !== null
      ? `while \`${by}\` ran`
      : left !== null
        ? `between two calls, after \`${left}\`, which may have left a process running; a person may have done it too`
        : leftEarlier !== undefined
          ? `between two calls; \`${leftEarlier}\`, started for an earlier prompt, may have left a process running, or a person did it`
          : 'between two calls, so not by a call of the agent'
  const words = { changed: 'changed', new: 'created', missing: 'removed' }[what]
  const back = { changed: 'It was put back', new: 'It was put aside', missing: 'It was put back' }[what]
  const undone =
    restored === undefined
      ? ''
      : restored
        ? `. ${back}${aside === undefined ? '' : `; ${what === 'new' ? 'it' : 'the changed version'} is ${aside}`}`
        : `. It could not be put back: ${why ?? 'unknown'}`
  return `${words} at ${at.slice(0, 19).replace('T', ' ')} UTC ${when} (${matches})${undone}.`
}
