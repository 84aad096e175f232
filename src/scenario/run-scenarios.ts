import { openProjectStore } from '../config/open-project-store.ts'
import type { Reporter } from '../report/contract.ts'
import type { Store } from '../store/contract.ts'
import { loadBaseline } from './baseline.ts'
import { frozenRequest } from './earlier-run.ts'
import { prepareRun } from './prepare-run.ts'
import { type RunRequestInput, runRequestSchema } from './request.ts'
import { type RunResult, runPrepared } from './run.ts'

export interface ScenarioRunOptions {
  /** Default: the one of the environment. */
  readonly store?: Store
  readonly reporter?: Reporter
  readonly signal?: AbortSignal
  /** Default: that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Goes on with this run; the request is then the one it was started with. */
  readonly resume?: string
}

/** `gantry test` as a function. */
export async function runScenarios(
  request: RunRequestInput,
  options: ScenarioRunOptions = {},
): Promise<RunResult> {
  const { env = process.env, reporter = {}, signal = new AbortController().signal, resume } = options
  const { cwd, configFile } = request
  const store =
    options.store ?? openProjectStore({ env, cwd, ...(configFile !== undefined && { configFile }) })
  const asked = resume === undefined ? runRequestSchema.parse(request) : frozenRequest(store, resume)
  const prepared = await prepareRun(asked, env, signal)
  return runPrepared(prepared, {
    store,
    reporter,
    signal,
    argv: [],
    ...(asked.baseline !== undefined && { baseline: await loadBaseline(store, asked.baseline) }),
    ...(resume !== undefined && { resume }),
  })
}
