import { counted } from '../../core/counted.ts'
import { isOfTests } from '../../guard-engine/tests/test-files.ts'
import type { FailedStep } from '../../verifier/contract.ts'
import type { AttemptRecord, InfrastructureFault, ParsedTask } from '../contract.ts'
import { logPlaces } from '../log-places.ts'
import type { ScoutBReport } from '../scouts/report-schemas.ts'

const maxHypotheses = 6

/**
 * Possible causes, derived from the facts: which failures repeated, where they point, what no attempt changed. Asks no model: after
 * twelve failures another guess of it would not help.
 */
export function hypotheses(facts: StuckFacts): readonly Hypothesis[] {
  const found = [
    brokenMachine(facts),
    diagnosed(facts),
    sameFailure(facts),
    untouchedFiles(facts),
    changedTests(facts),
    alternatingFailures(facts),
    firstStep(facts),
    oddFailure(facts),
    contradiction(facts),
    wrongVerification(facts),
    tooLarge(facts),
  ].filter((hypothesis) => hypothesis !== null)
  return found.slice(0, maxHypotheses)
}

function brokenMachine({ infrastructure, attempts }: StuckFacts): Hypothesis | null {
  if (infrastructure === null) return null
  return {
    title: `${infrastructure.source} failed, not the code`,
    text: `The task was stopped by "${infrastructure.message}". ${
      attempts.some(({ status }) => status === 'FAIL')
        ? 'The results of earlier verifications are valid. Later changes were not verified.'
        : 'The changes made so far were not verified.'
    }`,
    investigation: infrastructure.advice,
  }
}

function diagnosed({ diagnosis }: StuckFacts): Hypothesis | null {
  if (diagnosis === null || diagnosis === undefined || diagnosis.root_cause.trim() === '') return null
  const where =
    diagnosis.affected_files.length === 0 ? '' : ` It names ${diagnosis.affected_files.join(', ')}.`
  const flaky = diagnosis.is_flaky
    ? ` It also calls the failure flaky: ${sentence(diagnosis.flaky_reason ?? 'no reason given')}`
    : ''
  return {
    title: 'The last diagnosis was right, and no fix followed it',
    text: `Scout B's last reading was: ${sentence(diagnosis.root_cause)}${where}${flaky}`,
    investigation:
      diagnosis.suggested_investigation.join('; ') || 'Read the last log with this cause in mind.',
  }
}

function sameFailure({ attempts, strategies, untouched, filesModified }: StuckFacts): Hypothesis | null {
  const [text, count] = mostFrequent(failuresOf(attempts))
  if (text === null || count < 2) return null
  const own = filesModified.filter((path) => namesFile(text, path))
  const before = {
    PASS: ' The untouched tree passed, so look for the cause in the changes.',
    FAIL:
      untouched?.failure === text && own.length === 0
        ? ' The untouched tree failed in the same way, so its cause may lie outside what was changed.'
        : '',
    INFRA_ERROR: '',
  }[untouched?.status ?? 'INFRA_ERROR']
  const named = own.length === 0 ? '' : ` It names ${own.join(', ')}, which the task changed.`
  return {
    title: `One failure came back in ${count} of ${attempts.length} verifications`,
    text: `"${text}" came back under ${counted(strategies.length, 'strategy', 'strategies')}.${before}${named}`,
    investigation: `Compare the logs of ${runsWith(attempts, text)}, and look for what the changes before them have in common.`,
  }
}

function namesFile(text: string, path: string): boolean {
  return text.split(/[\s"'`():,;]+/).some((word) => word === path || word.endsWith(`/${path}`))
}

function untouchedFiles({ lastLog, filesModified }: StuckFacts): Hypothesis | null {
  const named = filesInLog(lastLog)
  const untouched = named.filter(
    (file) => !filesModified.some((path) => file === path || file.endsWith(`/${path}`)),
  )
  if (untouched.length === 0) return null
  const shown = untouched.slice(0, 3).join(', ')
  return {
    title: 'The failure points to files that were never changed',
    text: `The last log names ${shown}; the task changed ${filesModified.join(', ') || 'nothing'}.`,
    investigation: `Look at ${shown} first, and check whether the boundaries of the task forbid the needed change.`,
  }
}

function changedTests({ filesModified }: StuckFacts): Hypothesis | null {
  const tests = filesModified.filter(isOfTests)
  if (tests.length === 0) return null
  return {
    title: 'A test written for the task expects the wrong result',
    text: `${tests.join(', ')} ${tests.length === 1 ? 'was' : 'were'} changed together with the code under test.`,
    investigation: 'Compare the expectations with the task text, without looking at the code.',
  }
}

function alternatingFailures({ attempts }: StuckFacts): Hypothesis | null {
  const all = failuresOf(attempts)
  const kinds = [...new Set(all)]
  if (kinds.length < 2) return null
  const among = `among them "${kinds[0]}" and "${kinds[1]}"`
  // The same failure again, after another one.
  const isBack = all.some((text, index) => text !== all[index - 1] && all.indexOf(text) < index)
  return isBack
    ? {
        title: 'Two requirements contradict each other',
        text: `${kinds.length} different failures alternated, ${among}: fixing one may bring back the other.`,
        investigation: 'Find the smallest input for which both pass, or decide which requirement to drop.',
      }
    : {
        title: 'Each change led to another failure',
        text: `${kinds.length} different failures followed each other, ${among}.`,
        investigation: 'Compare the failures: see which of them the changes came closest to fixing.',
      }
}

/** For a single failure, or failures without a reason. */
function oddFailure({ attempts, infrastructure }: StuckFacts): Hypothesis | null {
  const [text, ...more] = failuresOf(attempts)
  if (infrastructure !== null || more.length > 0) return null
  return {
    title:
      text === undefined
        ? 'The failing command does not say why it fails'
        : 'The printed failure is a consequence, not the cause',
    text:
      text === undefined
        ? `None of the ${attempts.length} logs has a line that names a reason.`
        : `"${text}" is the only failure seen.`,
    investigation: 'Run the failing command with its most verbose option and read the output from the start.',
  }
}

function firstStep({ failedStep, attempts, untouched, sandbox }: StuckFacts): Hypothesis | null {
  if (failedStep === undefined || failedStep.index !== 0 || attempts.length < 2) return null
  if (untouched?.status === 'PASS') return null
  return {
    title: `The last verification ended in its first step, "${failedStep.name}"`,
    text: `\`${failedStep.command}\` ended with exit code ${failedStep.exit_code ?? 'unknown'}${failedStep.timed_out ? ' at its time limit' : ''}.`,
    investigation: `Run \`${failedStep.command}\` by hand. If it passes there, the sandbox (${sandbox}) may lack a dependency, a file that git ignores, or the network.`,
  }
}

function contradiction({ task }: StuckFacts): Hypothesis | null {
  const rules = [...task.mustPreserve, ...task.nonGoals, ...task.boundaries]
  if (rules.length === 0) return null
  return {
    title: 'The constraints do not allow the objective',
    text: `"${task.objective}" had these constraints: ${rules.join('; ')}.`,
    investigation: 'Find the smallest change that works, and which constraint it would break.',
  }
}

function wrongVerification({ failedStep, attempts, untouched }: StuckFacts): Hypothesis {
  const what =
    failedStep === undefined ? 'the verification' : `\`${failedStep.command}\` (step "${failedStep.name}")`
  const title = 'The verification itself is broken'
  switch (untouched?.status) {
    case 'PASS':
      return {
        title: 'A step demands what the task has to change',
        text: 'Every step passed on the untouched tree, so the steps can work.',
        investigation: `Read what ${what} checks, and whether the task says that this changes.`,
      }
    case 'FAIL':
      return {
        title,
        text: `The untouched tree failed too${untouched.failure === null ? '' : `: "${untouched.failure}"`}.`,
        investigation:
          'If the task does not have to fix this, fix agent.yaml or the environment first. gantry verify runs the steps on your tree.',
      }
    default:
      return {
        title,
        text: `${counted(attempts.length, 'verification')} ${attempts.length === 1 ? 'does' : 'do'} not show whether ${what} passes without the changes of the task.`,
        investigation:
          'Run gantry verify on a tree without the changes: if it fails there, fix agent.yaml or the environment first.',
      }
  }
}

function tooLarge({ filesModified, task }: StuckFacts): Hypothesis | null {
  return {
    title: 'The task is too large for one change',
    text: `${counted(filesModified.length, 'file was', 'files were')} changed for "${task.objective}".`,
    investigation: 'Split it. Start with the smallest part that can be verified alone, as a separate task.',
  }
}

function sentence(text: string): string {
  return /[.!?]$/.test(text.trim()) ? text.trim() : `${text.trim()}.`
}

function failuresOf(attempts: StuckFacts['attempts']): readonly string[] {
  return attempts.flatMap(({ primaryFailure }) => (primaryFailure === null ? [] : [primaryFailure]))
}

function mostFrequent(texts: readonly string[]): readonly [string | null, number] {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  let best: readonly [string | null, number] = [null, 0]
  for (const [text, count] of counts) if (count > best[1]) best = [text, count]
  return best
}

function runsWith(attempts: StuckFacts['attempts'], text: string): string {
  const ids = attempts.flatMap(({ primaryFailure, runId }) =>
    primaryFailure === text && runId !== null ? [runId] : [],
  )
  return `${ids[0] ?? 'the first'} and ${ids.at(-1) ?? 'the last run'}`
}

const maxFiles = 20

/** Dependencies and system files. */
const foreign = /(^|\/)(node_modules|site-packages|dist-packages)\/|^\/|^(usr|lib)\//

/** Files of the repository that a log points to, in the order of their first mention. */
export function filesInLog(log: string): readonly string[] {
  const files = logPlaces(log)
    .map(({ path }) => path)
    .filter((path) => !foreign.test(path))
  return [...new Set(files)].slice(0, maxFiles)
}

/** What is known when a task gets stuck. */
export interface StuckFacts {
  readonly task: ParsedTask
  readonly description: string
  readonly at: Date
  readonly status: 'STUCK' | 'INFRA_ERROR'
  readonly infrastructure: InfrastructureFault | null
  readonly taskId: string
  /** The task worked in the user's tree. */
  readonly here: boolean
  /** Name of the sandbox that ran the verifications. */
  readonly sandbox: string
  /** The steps on the untouched tree; null when they did not run. */
  readonly untouched: { readonly status: AttemptRecord['status']; readonly failure: string | null } | null
  readonly attempts: readonly AttemptRecord[]
  readonly strategies: readonly string[]
  readonly filesModified: readonly string[]
  /** End of the combined log of the last verification; empty when there was none. */
  readonly lastLog: string
  readonly failedStep?: FailedStep
  readonly diagnosis: ScoutBReport['failure_analysis'] | null
  /** Corrected statements of the Scouts. */
  readonly corrections: readonly string[]
}

interface Hypothesis {
  readonly title: string
  readonly text: string
  readonly investigation: string
}
