import { join } from 'node:path'
import { trustsHooks } from '../agents/index.ts'
import { definedVariables } from '../core/expand.ts'
import type { Redaction } from '../core/redaction.ts'
import { readProjectFacts } from '../guard-engine/project/read-project-facts.ts'
import { defaultSettings } from '../guard-engine/settings/settings.ts'
import { guardLocation } from '../guard-install/guard-location.ts'
import { namesIn, readTextIfExists } from '../io/directory.ts'
import { resolveModel } from '../models/index.ts'
import { builtInPrices } from '../models/prices.ts'
import type { Store } from '../store/contract.ts'
import { agentFileName } from '../verifier/agent-file.ts'
import type { VerifyEvent } from '../verifier/contract.ts'
import { findSetup } from '../verifier/open-phases.ts'
import { cachesDirOf, verifyRepository } from '../verifier/verify-repository.ts'
import { openEditor } from './editor/open-editor.ts'
import { openScouts } from './scouts/open-scouts.ts'
import type { TaskContext, TaskSite, VerifyAttempt, VerifyWatch } from './task-request.ts'
import type { ReadyStart } from './validate-start.ts'

export interface TaskToolsOptions {
  readonly start: ReadyStart
  readonly store: Store
  readonly env: Readonly<Record<string, string | undefined>>
  /** The redacted command line, for the manifests of verifications. */
  readonly argv: readonly string[]
  readonly redaction: Redaction
  /** For an agent with its own model names. Default: the agent chooses. The builtin agent uses the task's model. */
  readonly agentModel?: string
  /** Time limit of one Editor turn. Default 30 minutes. */
  readonly editTimeoutMs?: number
}

const editTimeoutMs = 30 * 60_000

/** The Scouts, the Editor and the Verifier of a task that is ready to start. */
export function openTaskTools(options: TaskToolsOptions): TaskContext['open'] {
  return async (site) => {
    const { start, env, store } = options
    const { project, agentFile, agent, modelLink, model } = start
    // A resumed task continues with the agent.yaml it began with.
    if (!site.run.inputs().has(agentFileName)) site.run.freeze(agentFileName, agentFile.text)
    // An agent in this process must not change files that configure agents' hooks either.
    const own = guardLocation(start.repository, env)
    const prices = { ...builtInPrices, ...project.config.models }
    const context = { env, base: project.root, prices, budget: site.budget }
    const strategist = await resolveModel(model, context)
    // The Scouts count their own retries.
    const retry = { attempts: 1, firstWaitMs: 0, longestWaitMs: 0 }
    const config = agentFile.file.verification
    const cachesDir = cachesDirOf(store, start.repository)
    const installed = async (): Promise<readonly string[]> =>
      (await findSetup({ config, repository: site.root, engine: start.engine }, cachesDir)).known ?? []
    const scouts = openScouts({
      model: await resolveModel(model, { ...context, retry }),
      root: site.root,
      packageDir: agentFile.file.package,
      timeoutMs: agentFile.file.timeouts.scoutQueryMs,
      commands: async () => (await readProjectFacts(site.root, defaultSettings, { entries: false })).commands,
      installed: async () =>
        (await installed()).flatMap((layer) => namesIn(join(layer, 'workspace'))).toSorted(),
      emit: site.emit,
    })
    const said = project.config.agents[agent.name]
    const ownEnv = { ...env, PATH: ownPath(env.PATH, start.repository, site.root) }
    const editor = await openEditor(
      {
        ...options,
        agent,
        modelLink,
        model: agent.driver.name === 'builtin' ? model : (options.agentModel ?? 'default'),
        package: agentFile.file.package,
        artefacts: store.root,
        host: ownEnv,
        place: {
          ...{ engine: start.engine, config, origin: start.repository, installed, cachesDir },
          env: definedVariables(ownEnv),
          sharesHome: said !== undefined && 'home' in said && said.home === 'host',
        },
        prices,
        trustsHooks: trustsHooks(said),
        guarded: { own: own.agentFiles, hookBin: own.hookBin },
        timeoutMs: options.editTimeoutMs ?? editTimeoutMs,
      },
      site,
    )
    return {
      scouts,
      model: strategist,
      edit: editor.edit,
      verify: verifier(options, site),
      installed,
      [Symbol.asyncDispose]: () => editor[Symbol.asyncDispose](),
    }
  }
}

function verifier(options: TaskToolsOptions, site: TaskSite): VerifyAttempt {
  const { start, store, env, argv } = options
  const path = join(start.repository, agentFileName)
  return async (attempt, signal, watch, more) => {
    const { file } = start.agentFile
    const { before = '' } = more ?? {}
    const steps = file.verification.steps.map((each) => ({ ...each, command: `${before}${each.command}` }))
    const verification = { ...file.verification, steps, env: { ...file.verification.env, ...more?.env } }
    if (more === undefined && readTextIfExists(path) !== start.agentFile.text)
      site.emit({
        kind: 'note',
        level: 'warning',
        message: `agent.yaml has changed since the task began. Verification ${attempt} uses the original version.`,
      })
    const { response } = await verifyRepository({
      repository: site.root,
      origin: start.repository,
      agentFile: { ...start.agentFile, file: { ...file, verification } },
      sandbox: start.engine,
      store,
      env: definedVariables({ ...env, PATH: ownPath(env.PATH, start.repository, site.root) }),
      signal,
      argv,
      title: `${attempt === 0 ? 'baseline' : `verification ${attempt}`}${more === undefined ? '' : ` ${more.what}`} of ${site.run.id}`,
      isUntouched: attempt === 0,
      refersTo: [site.run.id],
      redact: start.project.config.redact,
      onRun: (run) => watch.started(run.id),
      onEvent: (event) => reportOutput(watch, event),
      onWarning: (message) => site.emit({ kind: 'note', level: 'warning', message }),
    })
    return response
  }
}

/** Programs of the user's tree, such as those of an active virtual environment, are those of the task's own tree. */
function ownPath(path: string | undefined, repository: string, root: string): string | undefined {
  return path
    ?.split(':')
    .map((entry) =>
      `${entry}/`.startsWith(`${repository}/`) ? join(root, entry.slice(repository.length)) : entry,
    )
    .join(':')
}

function reportOutput(watch: VerifyWatch, event: VerifyEvent): void {
  if (event.kind === 'step_output' || event.kind === 'progress') watch.output(event.text)
}
