import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { resolveAgent } from '../../src/config/resolve-agent.ts'
import type { GantryEvent } from '../../src/core/event.ts'
import { createRedaction, type Redaction } from '../../src/core/redaction.ts'
import { systemClock } from '../../src/io/clock.ts'
import { chooseModelLink } from '../../src/model-link/choose-model-link.ts'
import { lazyBoundary } from '../../src/models/boundary/lazy-boundary.ts'
import type { ReplayMode } from '../../src/models/boundary/model-link.ts'
import { type Budget, createBudget } from '../../src/models/budget.ts'
import { builtInPrices } from '../../src/models/prices.ts'
import { type PluginConfig, pluginConfigSchema } from '../../src/plugin/config/keys/schema.ts'
import type { Arm, PluginStep } from '../../src/plugin/contract.ts'
import type { Execution, PluginTranscript } from '../../src/plugin/execute/contract.ts'
import type { ExecutionReport } from '../../src/plugin/execute/execute-trials.ts'
import { executeTrials } from '../../src/plugin/execute/execute-trials.ts'
import { planTrials } from '../../src/plugin/execute/plan-trials.ts'
import type { ExecuteRequest } from '../../src/plugin/execute/request.ts'
import type { PluginScenario } from '../../src/plugin/generate/contract.ts'
import { type EventRecorder, openEventRecorder } from '../../src/store/event-recorder.ts'
import type { AsideReason } from '../../src/trials/contract.ts'

export interface LabRun {
  readonly scenarios: readonly PluginScenario[]
  readonly plugin: ExecuteRequest['plugin']
  readonly config?: object
  readonly arms?: readonly Arm[]
  readonly crowd?: readonly string[]
  /** A script for the model. */
  readonly script?: object
  readonly replay?: ReplayMode
  readonly cassettes?: string
  readonly budget?: Budget
  readonly env?: Readonly<Record<string, string>>
  readonly done?: ReadonlySet<string>
  readonly more?: Partial<ExecuteRequest>
}

export interface LabResult {
  readonly report: ExecutionReport
  readonly steps: readonly PluginStep[]
  /** In the order in which they were kept. */
  readonly executions: readonly Execution[]
  readonly transcripts: ReadonlyMap<string, PluginTranscript>
  readonly aside: readonly AsideAttempt[]
  /** Of the first trial of a scenario, or of the one with this id. */
  execution(id: string): Execution
  transcript(id: string): PluginTranscript
  events(trialId: string): readonly GantryEvent[]
}

export interface ExecuteLab {
  readonly dir: string
  run(run: LabRun): Promise<LabResult>
  request(run: LabRun, kept: Kept): Promise<ExecuteRequest>
  close(): Promise<void>
}

interface Kept {
  readonly executions: Execution[]
  readonly transcripts: Map<string, PluginTranscript>
  readonly steps: PluginStep[]
  readonly aside: AsideAttempt[]
}

/** An attempt that was put aside. */
interface AsideAttempt {
  readonly id: string
  readonly costUsd: number | null
  readonly why: AsideReason
}

/** Executions of trials with an agent whose driver is claude-code: the real one, or a program in its place. */
export function openExecuteLab(binary: string): ExecuteLab {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-execute-')))
  const boundary = lazyBoundary()
  let runs = 0

  const request = async (run: LabRun, kept: Kept): Promise<ExecuteRequest> => {
    runs += 1
    const root = join(dir, `run-${runs}`)
    const home = join(root, 'own-home')
    mkdirSync(home, { recursive: true })
    const agent = {
      driver: 'claude-code',
      binary,
      ...(run.script !== undefined && { model_script: 'script.yaml' }),
    }
    writeFileSync(join(root, 'script.yaml'), JSON.stringify(run.script ?? {}))
    writeFileSync(join(root, 'gantry.yaml'), JSON.stringify({ agents: { mine: agent } }))
    const env = { PATH: process.env.PATH ?? '', HOME: home, ...run.env }
    const config = pluginConfigSchema.parse({ max_concurrent: 1, ...run.config })
    const arms = [...(run.arms ?? ['alone'])]
    const signal = run.more?.signal ?? new AbortController().signal
    const { loadProject } = await import('../../src/config/load.ts')
    const resolved = await resolveAgent('mine', {
      project: loadProject(root),
      cwd: root,
      env,
      probeEnv: { PATH: env.PATH, HOME: home },
      signal,
    })
    const model = chooseModelLink(resolved, { replay: run.replay ?? 'off', faults: [] })
    return {
      config: settled(config),
      plugin: run.plugin,
      crowd: run.crowd ?? [],
      scenarios: run.scenarios,
      trials: planTrials(run.scenarios, { execution: { ...config.execution, arms } }, arms),
      done: run.done ?? new Set(),
      agent: resolved,
      modelLink: model === null ? null : { model, boundary: boundary.get, faults: null },
      cassettes: run.cassettes ?? join(root, 'cassettes'),
      prices: builtInPrices,
      budget: run.budget ?? createBudget(null),
      redaction: createRedaction([], env),
      env,
      workDir: join(root, 'processes'),
      signal,
      allowScaffold: false,
      openEventLog: (id) => openFreshLog(join(root, 'trials', id), createRedaction([], env)),
      keep: (execution, transcript) => {
        kept.executions.push(execution)
        kept.transcripts.set(execution.trial.id, transcript)
      },
      putAside: (attempt, why) => kept.aside.push({ ...attempt, why }),
      onStep: (step) => kept.steps.push(step),
      ...run.more,
    }
  }

  return {
    dir,
    request,
    async run(run) {
      const kept: Kept = { executions: [], transcripts: new Map(), steps: [], aside: [] }
      const asked = await request(run, kept)
      const root = join(asked.workDir, '..')
      const report = await executeTrials(asked)
      const execution = (id: string): Execution =>
        found(kept.executions.find(({ trial }) => trial.id === id || trial.scenario_id === id))
      return {
        report,
        steps: kept.steps,
        executions: kept.executions,
        transcripts: kept.transcripts,
        aside: kept.aside,
        execution,
        transcript: (id) => found(kept.transcripts.get(execution(id).trial.id)),
        events: (trialId) =>
          readFileSync(join(root, 'trials', trialId, 'events.jsonl'), 'utf8')
            .split('\n')
            .flatMap((line) => (line === '' ? [] : [JSON.parse(line)])),
      }
    },
    async close() {
      await boundary[Symbol.asyncDispose]()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

export function scenarioOf(
  id: string,
  user_prompt: string,
  component: Pick<PluginScenario, 'component_type' | 'component_ref'>,
  more: Partial<PluginScenario> = {},
): PluginScenario {
  return {
    id,
    user_prompt,
    ...component,
    expected_component: component.component_ref,
    scenario_type: 'direct',
    expected_trigger: true,
    origin: 'file',
    ...more,
  }
}

/** As the pipeline hands it over: the strategy is said. */
function settled(config: PluginConfig): PluginConfig {
  const { session_strategy = 'batched_by_component' } = config.execution
  return { ...config, execution: { ...config.execution, session_strategy } }
}

function found<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('there is no such trial')
  return value
}

function openFreshLog(dir: string, redaction: Redaction): EventRecorder {
  rmSync(dir, { recursive: true, force: true })
  mkdirSync(dir, { recursive: true })
  const [events, transcript] = [join(dir, 'events.jsonl'), join(dir, 'output.log')]
  return openEventRecorder({ events, transcript, redaction, clock: systemClock })
}
