import { z } from 'zod'
import type { AgentDefinition } from '../agents/module/define-agent.ts'
import type { PassedIn } from '../config/load.ts'
import { openProjectStore } from '../config/open-project-store.ts'
import { defined } from '../core/json-fields.ts'
import type { GateDefinition } from '../gates/define-gate.ts'
import { checkOptions, namedOrOwn, optionFields } from '../io/check-options.ts'
import type { Reporter } from '../report/contract.ts'
import type { ReporterDefinition } from '../report/define-reporter.ts'
import { openReportersOf } from '../report/open-reporters.ts'
import type { Store } from '../store/contract.ts'
import { checkGraders, type GraderCheck } from './check.ts'
import { baselineOf } from './compare-sides.ts'
import { caseTimes, estimateRun, type RunEstimate } from './estimate.ts'
import type { RunResult } from './finish-run.ts'
import { loadScenarios } from './load-case.ts'
import { prepareRun } from './prepare-run.ts'
import { newRequest, type RunRequest, type RunRequestInput, rerunRequest, resumedRequest } from './request.ts'
import { runPrepared } from './run.ts'

export interface ScenarioRunResult extends RunResult {
  /** Reporters that failed. They stop neither the run nor each other. */
  readonly reporterProblems: readonly { readonly name: string; readonly error: unknown }[]
}

const placeFields = { cwd: z.string(), paths: z.array(z.string()).optional() }

const gradingOptionsSchema = z.strictObject({
  /** Gates of your own, besides those of gantry.yaml. */
  gates: z.array(z.custom<GateDefinition>()).readonly().optional(),
  signal: optionFields.signal,
  /** Default: that of this process. */
  env: optionFields.env,
})

const planOptionsSchema = gradingOptionsSchema.extend({
  /** Agents of your own, by the name that `agents` of the request uses. One with a name of gantry.yaml replaces that agent. */
  agents: z.record(z.string(), z.custom<AgentDefinition>()).optional(),
})

export type ScenarioPlanOptions = Readonly<z.output<typeof planOptionsSchema>>

const runOptionsSchema = planOptionsSchema.extend({
  /** Names as in `--reporter`, reporters of your own, or functions that listen. Default: none. */
  reporters: namedOrOwn<ReporterDefinition | Reporter>().optional(),
  /** Continues this run as it was planned. Of the request only limits, concurrency and the judging of the whole may differ. */
  resume: z.string().optional(),
  /** Runs only the trials of this run that did not pass: a run id or `latest`. Its request applies where this one is silent. */
  rerunFailed: z.string().optional(),
})

export type ScenarioRunOptions = Readonly<z.output<typeof runOptionsSchema>>

/** What `gantry test` does, as a function. */
export async function runScenarios(
  request: RunRequestInput,
  options: ScenarioRunOptions = {},
): Promise<ScenarioRunResult> {
  checkOptions('runScenarios options', runOptionsSchema, options)
  const { env = process.env, signal = new AbortController().signal, resume } = options
  const store = storeOf(request, env)
  const asked = await requestOf(await balanced(request, store), options, store, env)
  const prepared = await prepareRun(asked, env, signal, passedIn(options))
  const reporter = await openReportersOf(options.reporters ?? [], { env, cwd: asked.cwd })
  const result = await runPrepared(prepared, {
    store,
    reporter,
    signal,
    argv: [],
    ...defined({ baseline: await baselineOf(prepared, store), resume }),
  })
  return { ...result, reporterProblems: reporter.problems() }
}

function requestOf(
  request: RunRequestInput,
  { resume, rerunFailed }: ScenarioRunOptions,
  store: Store,
  env: Env,
): RunRequest | Promise<RunRequest> {
  if (resume !== undefined) return resumedRequest(store, resume, request)
  return rerunFailed === undefined ? newRequest(request, env) : rerunRequest(store, rerunFailed, request, env)
}

async function balanced(request: RunRequestInput, store: Store): Promise<RunRequestInput> {
  const { shard, caseMs, baseline, cwd } = request
  if (shard === undefined || caseMs !== undefined) return request
  return { ...request, caseMs: await caseTimes(store, { baseline, cwd }) }
}

/** What `gantry test --plan` shows, as a function. */
export async function planScenarios(
  request: RunRequestInput,
  options: ScenarioPlanOptions = {},
): Promise<RunEstimate> {
  checkOptions('planScenarios options', planOptionsSchema, options)
  const { env = process.env, signal = new AbortController().signal } = options
  const store = storeOf(request, env)
  const asked = newRequest(await balanced(request, store), env)
  const prepared = await prepareRun(asked, env, signal, passedIn(options))
  await baselineOf(prepared, store)
  return estimateRun(prepared, store)
}

/** What `gantry scenario check` does, as a function. */
export async function checkScenarios(
  request: Pick<RunRequestInput, 'cwd' | 'paths'>,
  options: Omit<ScenarioPlanOptions, 'agents'> = {},
): Promise<GraderCheck[]> {
  const { cwd, paths = [] } = checkOptions('checkScenarios request', z.strictObject(placeFields), request)
  checkOptions('checkScenarios options', gradingOptionsSchema, options)
  const { env = process.env, signal = new AbortController().signal } = options
  const { cases, project } = await loadScenarios(paths, {}, { cwd, env, passedIn: passedIn(options) })
  const checks: GraderCheck[] = []
  for (const entry of cases)
    checks.push(await checkGraders(entry, { env, signal, redact: project.config.redact }))
  return checks
}

type Env = NonNullable<ScenarioPlanOptions['env']>

/** Found before the request is read, because a run that is resumed is in it. */
function storeOf(request: RunRequestInput, env: Env): Store {
  const place = z.object({ cwd: z.string(), configFile: z.string().optional() })
  const { cwd, configFile } = checkOptions('request', place, request)
  return openProjectStore({ env, cwd, ...(configFile !== undefined && { configFile }) })
}

function passedIn({ gates, agents }: ScenarioPlanOptions): PassedIn {
  return { ...(gates !== undefined && { gates }), ...(agents !== undefined && { agents }) }
}
