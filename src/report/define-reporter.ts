import { GantryError } from '../core/error.ts'
import { definitionProblem, importModule } from '../io/import-module.ts'
import { faultOf, runOwnCode } from '../io/own-code.ts'
import type { Reporter, ReporterContext } from './contract.ts'

export interface ReporterDefinition {
  /** Shown in messages about it. */
  readonly name: string
  /** Called once per run. What it returns gets the same calls as the built-in reporters. */
  open(context: ReporterContext): Reporter | Promise<Reporter>
  /** How long each of its functions may take. Default: five minutes. */
  readonly timeoutMs?: number
}

const defaultTimeoutMs = 300_000

/** Returns its argument. It is there for the types. */
export function defineReporter(reporter: ReporterDefinition): ReporterDefinition {
  return reporter
}

/** Loads the reporter of `--reporter ./file.js`. Throws GantryError USAGE when the module does not define one. */
export async function loadReporter(path: string, cwd: string): Promise<ReporterDefinition> {
  const found = await importModule({
    path,
    base: cwd,
    relativeTo: 'the working directory',
    what: 'a reporter',
    hint: 'Write: export default defineReporter({ name, open }).',
    read: readReporterDefinition,
  })
  if (found.kind === 'loaded') return found.value
  throw new GantryError(found.kind === 'missing' ? 'NOT_FOUND' : 'INVALID_FILE', found.message, {
    hint: found.hint,
    cause: found.cause,
  })
}

/**
 * Opens a reporter of the user. Each of its functions may be asynchronous: the run does not wait for them before its end. What it
 * throws is a fault of its author, reported by the name of the reporter.
 */
export async function openOwnReporter(
  definition: ReporterDefinition,
  context: ReporterContext,
): Promise<Reporter> {
  const guarded = async <T>(act: () => T | Promise<T>): Promise<T> => {
    const { name, timeoutMs = defaultTimeoutMs } = definition
    try {
      return await runOwnCode(`the reporter '${name}'`, act, { limitMs: timeoutMs })
    } catch (cause) {
      if (cause instanceof GantryError) throw cause
      throw new GantryError('INVALID_FILE', `the reporter '${name}' ${faultOf(cause)}`, {
        hint: 'Fix the reporter.',
        cause,
      })
    }
  }
  const reporter = await guarded(() => definition.open(context))
  const pending = new Set<Promise<unknown>>()
  let failure: unknown = null
  const call = (act: () => unknown): void => {
    const done = guarded(act)
      .catch((error: unknown) => {
        failure ??= error
      })
      .finally(() => pending.delete(done))
    pending.add(done)
  }
  return {
    runStarted: (run) => call(() => reporter.runStarted?.(run)),
    trialStarted: (trial) => call(() => reporter.trialStarted?.(trial)),
    trialEnded: (trial) => call(() => reporter.trialEnded?.(trial)),
    note: (note) => call(() => reporter.note?.(note)),
    async runEnded(run) {
      await Promise.all(pending)
      if (failure !== null) throw failure
      await guarded(() => reporter.runEnded?.(run))
    },
  }
}

function readReporterDefinition(value: unknown): ReporterDefinition | string {
  return definitionProblem(value, definitionKeys, ['name', 'open']) ?? (value as ReporterDefinition)
}

const definitionKeys = {
  name: (value: unknown) => typeof value === 'string' && value !== '',
  open: (value: unknown) => typeof value === 'function',
  timeoutMs: (value: unknown) => typeof value === 'number' && value > 0,
}
