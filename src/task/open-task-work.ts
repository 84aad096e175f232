import { join } from 'node:path'
import { verifyRepository } from '../config/verify-repository.ts'
import { definedVariables } from '../core/defined-variables.ts'
import { createRedaction, type Redaction } from '../core/redaction.ts'
import { lookAtProject } from '../guard-engine/project/look-at-project.ts'
import { defaultSettings } from '../guard-engine/settings/settings.ts'
import { readTextIfExists } from '../io/directory.ts'
import { resolveModel } from '../models/index.ts'
import { builtInPrices } from '../models/prices.ts'
import type { Store } from '../store/contract.ts'
import { agentFileName } from '../verifier/agent-file.ts'
import type { VerifyEvent } from '../verifier/contract.ts'
import { type EditorOptions, openEditor } from './editor/open-editor.ts'
import { openScouts } from './scouts/open-scouts.ts'
import type { TaskPowers, TaskSite, TaskWork, VerifyAttempt, VerifyWatch } from './task-request.ts'
import type { ReadyStart } from './validate-start.ts'

export interface WorkOptions extends Pick<EditorOptions, 'guardAgent' | 'guarded'> {
  readonly start: ReadyStart
  readonly store: Store
  readonly env: Readonly<Record<string, string | undefined>>
  /** Of the command line, for the manifests of verifications; already redacted. */
  readonly argv: readonly string[]
  readonly redaction: Redaction
  /** For an agent that names models in its own way. Default: it chooses. The builtin one has the task's. */
  readonly agentModel?: string
  /** Of one turn of the Editor. Default 30 minutes. */
  readonly editTimeoutMs?: number
}

const editTimeoutMs = 30 * 60_000

/** The real Scouts, the real Editor and the real Verifier of a task that was found ready to start. */
export function openTaskWork(options: WorkOptions): TaskPowers['open'] {
  return async (site) => {
    const { start, env, store } = options
    const { project, agentFile, agent, modelLink, model } = start
    // The task goes on with what it began with, also in another process.
    if (!site.run.inputs().has(agentFileName)) site.run.freeze(agentFileName, agentFile.text)
    // Taken up again, the task goes on with what it began with.
    if (!site.run.inputs().has('agent.yaml')) site.run.freeze('agent.yaml', agentFile.text)
    const prices = { ...builtInPrices, ...project.config.models }
    const context = { env, base: project.root, prices, budget: site.budget }
    const strategist = await resolveModel(model, context)
    // A Scout's retries are counted by the Scout.
    const retry = { attempts: 1, firstWaitMs: 0, longestWaitMs: 0 }
    const scouts = openScouts({
      model: await resolveModel(model, { ...context, retry }),
      root: site.root,
      packageDir: agentFile.file.package,
      timeoutMs: agentFile.file.timeouts.scoutQueryMs,
      commands: async () => (await lookAtProject(site.root, defaultSettings, { entries: false })).commands,
      emit: site.emit,
    })
    const editor = await openEditor(
      {
        ...options,
        agent,
        modelLink,
        model: agent.driver.name === 'builtin' ? model : (options.agentModel ?? 'default'),
        package: agentFile.file.package,
        artefacts: store.root,
        host: env,
        prices,
        trustsHooks: trustsHooks(start),
        timeoutMs: options.editTimeoutMs ?? editTimeoutMs,
      },
      site,
    )
    const work: TaskWork = {
      scouts,
      model: strategist,
      edit: editor.edit,
      verify: verifier(options, site),
      [Symbol.asyncDispose]: () => editor[Symbol.asyncDispose](),
    }
    return work
  }
}

function trustsHooks({ project, agent }: ReadyStart): boolean {
  const settings = project.config.agents[agent.name]
  return settings?.driver !== 'codex' || settings.trust_hooks
}

export function taskRedaction({ project, agent }: ReadyStart, env: WorkOptions['env']): Redaction {
  return createRedaction(project.config.redact, env, agent.env)
}

function verifier(options: WorkOptions, site: TaskSite): VerifyAttempt {
  const { start, store, env, argv } = options
  const path = join(start.repository, agentFileName)
  return async (attempt, signal, watch) => {
    if (readTextIfExists(path) !== start.agentFile.text)
      site.emit({
        kind: 'note',
        level: 'warning',
        message: `agent.yaml is not what it was when the task began. Verification ${attempt} goes by what it was.`,
      })
    const { response } = await verifyRepository({
      repository: start.repository,
      agentFile: start.agentFile,
      sandbox: start.engine,
      store,
      env: definedVariables(env),
      signal,
      argv,
      title: `verification ${attempt} of ${site.run.id}`,
      refersTo: [site.run.id],
      redact: start.project.config.redact,
      onRun: (run) => watch.started(run.id),
      onEvent: (event) => tell(watch, event),
      onWarning: (message) => site.emit({ kind: 'note', level: 'warning', message }),
    })
    return response
  }
}

function tell(watch: VerifyWatch, event: VerifyEvent): void {
  if (event.kind === 'step_output' || event.kind === 'progress') watch.output(event.text)
}
