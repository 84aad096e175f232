import { counted } from '../../core/counted.ts'
import type { TraceReport } from './trace-report.ts'

const manyDenials = 5
const manyFailures = 3

/** What could be done about it, as imperative sentences. `unverified`: files edited after the last green test run. */
export function suggestionsFor(
  report: Omit<TraceReport, 'suggestions'>,
  unverified: number,
): readonly string[] {
  const { loops, verification, failures, refusals, source, results, total } = report
  const found: string[] = []
  const { suggested_threshold: suggested, edits_until_green: until } = loops
  if (suggested !== null && suggested !== loops.edit_threshold)
    found.push(
      `Set loop_detection.edit_threshold to ${suggested}: in ${counted(until.rounds, 'round')} that ended green, 95% of the files took ${counted(until.p95 ?? 0, 'edit')} or fewer.`,
    )
  const [repeat] = loops.repeats
  if (repeat !== undefined)
    found.push(
      `Look at what went round ${repeat.times} times without success: ${repeat.calls.join(', then ')}.`,
    )
  const tests = verification.filter(({ kind }) => kind === 'test')
  if (unverified > 0 && tests.length > 0)
    found.push(
      `Run the tests: ${counted(unverified, 'file')} ${unverified === 1 ? 'was' : 'were'} edited after the last test run that is known to have passed.`,
    )
  if (report.hot_files.length > 0 && tests.length === 0)
    found.push('Declare a test command, in AGENTS.md for example: files were edited and no test was run.')
  // Tests are there to fail now and then.
  const failure = failures.find(({ call }) => !verification.some(({ command }) => call.endsWith(command)))
  if (failure !== undefined && failure.count >= manyFailures)
    found.push(`See why this failed ${failure.count} times, or tell the agent another way: ${failure.call}`)
  for (const { rule, denied } of refusals)
    if (denied >= manyDenials)
      found.push(
        `Say in the prompt or in AGENTS.md what ${rule} forbids: it denied ${counted(denied, 'call')}.`,
      )
  if (total > 0 && results.unknown / total > 0.5)
    found.push('Read the results with care: the agent did not tell how most of its calls ended.')
  if (source.broken_lines > 0)
    found.push(`Look at the log: ${counted(source.broken_lines, 'line')} of it could not be read.`)
  return found
}
