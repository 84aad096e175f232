import type { Reporter } from './contract.ts'

/** A reporter that broke: which one, and why. */
interface ReporterProblem {
  readonly name: string
  readonly error: unknown
}

export interface ComposedReporter extends Required<Reporter> {
  runEnded(...args: Parameters<NonNullable<Reporter['runEnded']>>): Promise<void>
  /** Complete once `runEnded` has settled. Whoever started the run tells the user. */
  problems(): readonly ReporterProblem[]
}

/**
 * Forwards everything to all. A reporter that throws stops neither the others nor the run: it is left out from then on
 * and its error is kept. `runEnded` goes one by one in order, so that two reporters on one terminal do not mix.
 */
export function composeReporters(
  reporters: Readonly<Record<string, Reporter>> | readonly Reporter[],
): ComposedReporter {
  const working = new Map(Object.entries(reporters))
  const problems: ReporterProblem[] = []
  const broken = (name: string, error: unknown): void => {
    working.delete(name)
    problems.push({ name, error })
  }
  const forward = (call: (reporter: Reporter) => void): void => {
    for (const [name, reporter] of working)
      try {
        call(reporter)
      } catch (error) {
        broken(name, error)
      }
  }
  return {
    runStarted: (run) => forward((reporter) => reporter.runStarted?.(run)),
    trialStarted: (trial) => forward((reporter) => reporter.trialStarted?.(trial)),
    trialEnded: (trial) => forward((reporter) => reporter.trialEnded?.(trial)),
    note: (note) => forward((reporter) => reporter.note?.(note)),
    async runEnded(run) {
      for (const [name, reporter] of working)
        try {
          await reporter.runEnded?.(run)
        } catch (error) {
          broken(name, error)
        }
    },
    problems: () => problems,
  }
}
