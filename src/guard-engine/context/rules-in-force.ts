import { printable } from '../printable.ts'
import type { Settings } from '../settings/settings.ts'
import { block } from './block.ts'

/** The enabled rules of this session, with the numbers from the settings. */
export function rulesInForce(settings: Settings): string {
  const lines = [
    ...loops(settings),
    ...stops(settings),
    ...protection(settings),
    ...writeLimits(settings),
    own,
    ...trace(settings),
  ]
  return block(
    'Harness Rules (enforced by hooks)',
    lines.map((line) => `- ${line}`),
    1300,
  )
}

const own =
  'Self-protection: the settings of the guard, its ledger and the hook configuration of the agent cannot be changed from a session; a person can unlock them.'

function loops({ loopDetection }: Settings): readonly string[] {
  const { enabled, editThreshold, repeatThreshold, resetOnNewTask } = loopDetection
  if (!enabled) return []
  const since = resetOnNewTask ? ' within one task' : ''
  return [
    `Loop detection: ${editThreshold} or more edits of one file${since}, or ${repeatThreshold} times the same failing call, cycle or error, bring a note to reconsider the approach.`,
  ]
}

function stops({ checklist }: Settings): readonly string[] {
  if (!checklist.enabled) return []
  const conditions = [
    ...(checklist.requireVerification ? ['a verification command has not run on the changed tree'] : []),
    ...(checklist.requireTestsPass ? ['one of them failed on it'] : []),
    ...(checklist.requirePlanCheck ? ['the plan has open tasks'] : []),
  ]
  if (conditions.length === 0) return []
  const runs =
    checklist.verify === 'self' ? ' The guard runs the verification commands itself at a stop.' : ''
  return [
    `Completion: stopping is refused while ${conditions.join(', or ')}; at most ${times(checklist.maxRefusals)} per prompt. A run counts only with its own exit status: masked, interrupted, background and empty runs do not.${runs}`,
  ]
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}

function protection({ fileProtection }: Settings): readonly string[] {
  const { enabled, protectedPatterns } = fileProtection
  if (!enabled || protectedPatterns.length === 0) return []
  const patterns = printable(protectedPatterns.join(' '), 200)
  return [`File protection: files that match ${patterns} cannot be written, by whatever tool.`]
}

function writeLimits({
  boundary: { enabled, package: inner, also, refused, git },
}: Settings): readonly string[] {
  if (!enabled) return []
  const where = inner === '' ? 'the project' : printable(inner, 100)
  const besides = also.length === 0 ? '' : ` and in ${printable(also.join(', '), 200)}`
  const kept = refused.length === 0 ? '' : ` ${printable(refused.join(', '), 200)} must not change.`
  const noGit = git === 'all' ? '' : ' Git may only be read: nothing is committed, staged or stashed.'
  return [`Write limits: tools write in ${where}${besides}, nowhere else.${kept}${noGit}`]
}

function trace({ traceLogging }: Settings): readonly string[] {
  const { enabled, logToolCalls, logFileEdits } = traceLogging
  if (!enabled || !(logToolCalls || logFileEdits)) return []
  const what =
    logToolCalls && logFileEdits
      ? 'every tool call is'
      : logFileEdits
        ? 'file edits are'
        : 'tool calls other than edits are'
  return [`Trace: ${what} logged, redacted.`]
}
