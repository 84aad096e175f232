import type { DecisionEntry, EventEntry } from '../guard-engine/contract.ts'
import type { ExplainedEvidence } from './explain-evidence.ts'

/** What somebody would have to do for the decision to come out otherwise, as sentences; none when nothing was refused. */
export function whatWouldChange(
  { findings, verdict }: DecisionEntry,
  { event }: EventEntry,
  evidence: readonly ExplainedEvidence[],
): readonly string[] {
  const spoke = findings.filter((finding) => finding.verdict !== 'pass').map(({ rule }) => rule)
  const advice = spoke.flatMap((rule) => adviceOf[rule] ?? [])
  if (verdict === 'refuse') return [...advice, ...evidence.flatMap(wantedOf), ...plan(event.facts), waiver]
  if (verdict === 'deny' && advice.length === 0)
    return ['A call that does not do what the reason names would pass.']
  return advice
}

const adviceOf: Readonly<Record<string, readonly string[]>> = {
  'protect-itself': [
    'A call that leaves the named file alone would pass.',
    'A person can allow it for a while: gantry guard unlock.',
  ],
  'protect-files': [
    'A call that leaves the named file alone would pass.',
    'A person can change file_protection.protected_patterns in harness.json.',
  ],
  'confine-writes': [
    'A call that writes inside the boundary only would pass.',
    'A person can change boundary in harness.json, or the HARNESS_BOUNDARY_ variables the agent is started with.',
  ],
  settings: ['A person has to mend the settings of the guard.'],
}

const waiver = 'A person can let these files pass as they are: gantry guard waive --reason TEXT.'

function wantedOf({ command, status, rejected }: ExplainedEvidence): readonly string[] {
  const why = rejected === null ? '' : ` The last run did not count: ${rejected}.`
  switch (status) {
    case 'green':
      return []
    case 'missing':
      return [`\`${command}\` would have to run.${why}`]
    case 'stale':
      return [`\`${command}\` would have to run again: files changed since its last run.${why}`]
    case 'red':
      return [`\`${command}\` would have to succeed: its last run failed.${why}`]
    case 'hollow':
      return [`\`${command}\` would have to run tests: its last run executed none.${why}`]
  }
}

function plan({ project }: EventEntry['event']['facts']): readonly string[] {
  const open = project?.plan?.open ?? []
  return open.length === 0
    ? []
    : [`${open.length} open tasks of the plan would have to be done, the next one: ${open[0]}.`]
}
