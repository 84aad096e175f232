import { dirname, sep } from 'node:path'
import type { AgentSession, LoadedParts, SessionRequest } from '../../agents/contract.ts'
import type { SpawnEvent, Untimed } from '../../core/event.ts'
import { systemClock } from '../../io/clock.ts'
import { removeTree } from '../../io/files.ts'
import { type LiveLink, openLiveLink } from '../../model-link/open-live-link.ts'
import type { AttemptLog } from './attempt-log.ts'
import { type CaptureRouter, createCaptureRouter, createEventRouter } from './captures/capture-router.ts'
import { claudeSessionOpener } from './claude-settings.ts'
import { homeOf, makeProcessPlace, type ProcessPlace, processEnvironment } from './process-environment.ts'
import type { ProcessSettings } from './process-settings.ts'
import type { ExecuteContext } from './request.ts'
import { openWorkspace, type ScenarioWorkspace } from './workspace.ts'

/** One live process of Claude Code with everything around it: places, boundary, captures. */
export interface LiveClaude {
  readonly session: AgentSession
  readonly modelLink: LiveLink | null
  readonly captureRouter: CaptureRouter
  readonly workspace: ScenarioWorkspace
  readonly place: ProcessPlace
  /** null when the process uses the caller's own, in which nothing is touched. */
  readonly ownHome: string | null
  /** null when it never said what it loaded. */
  readonly loaded: LoadedParts | null
  readonly loadMs: number
  readonly spawned: Untimed<SpawnEvent> | null
  /** Where events go from now on; null: nowhere. What belongs to the beginning of the next scenario comes first. */
  listen(log: AttemptLog | null): void
  /** Forgets the conversation and begins the next one. */
  turn(): Promise<void>
  /** The conversation has begun, and nothing was said in it yet. */
  isTurned(): boolean
  ask: AgentSession['ask']
  /** Ends the process. */
  stop(reason: 'over_budget'): void
  /** Whether another scenario can be asked. */
  isUsable(): boolean
  close(): Promise<void>
}

/** `maxCostUsd`: all scenarios of the process together. */
export async function openLiveClaude(
  context: ExecuteContext,
  settings: ProcessSettings,
  { maxCostUsd }: { readonly maxCostUsd?: number } = {},
): Promise<LiveClaude> {
  const { config } = context
  const openSession = claudeSessionOpener(context, settings)
  const place = makeProcessPlace(context.workDir)
  const home = homeOf(context, place)
  const limitMs = config.tuning.timeouts.plugin_load_ms
  const started = performance.now()
  const stopping = new AbortController()
  const captureRouter = createCaptureRouter(systemClock.now().getTime())
  const eventRouter = createEventRouter(captureRouter)
  const { workspace, modelLink } = await prepare(context, settings, place).catch((error: unknown) => {
    removeTree(place.dir)
    throw error
  })
  const request: SessionRequest = {
    workspace: place.workspace,
    model: settings.model,
    env: processEnvironment(context, settings, place),
    timeoutMs: limitMs,
    signal: AbortSignal.any([context.signal, stopping.signal]),
    emit: eventRouter.event,
    transcript: eventRouter.raw,
    onHook: captureRouter.hook,
    // The CLI tells its model what is left of a budget, and no recording would fit what is told later: where the boundary
    // stands between them, it is the boundary that holds the money.
    ...(modelLink !== null ? { endpoint: modelLink.endpoint } : maxCostUsd !== undefined && { maxCostUsd }),
  }
  // Whatever it waits for: a server that never answers, a hook that hangs.
  const limit = setTimeout(() => stopping.abort(), limitMs)
  const session = await openSession(request)
  const loaded = (await session.loaded?.()) ?? null
  clearTimeout(limit)
  let isTurned = false

  return {
    session,
    modelLink,
    captureRouter,
    workspace,
    place,
    ownHome: home === place.home ? home : null,
    loaded: stopping.signal.aborted ? null : loaded,
    loadMs: performance.now() - started,
    spawned: eventRouter.spawned(),
    listen: eventRouter.listen,
    async turn() {
      eventRouter.forgetBeginning()
      captureRouter.turn()
      await session.clear?.()
      captureRouter.turned()
      isTurned = true
    },
    isTurned: () => isTurned,
    async ask(prompt, options) {
      isTurned = false
      captureRouter.ask()
      const outcome = await session.ask(prompt, options)
      captureRouter.answered()
      return outcome
    },
    stop: (reason) => stopping.abort(reason),
    isUsable: () => !stopping.signal.aborted && session.isAlive?.() !== false && !workspace.isLost(),
    async close() {
      try {
        await session.close()
      } finally {
        await modelLink?.close()
        if (!config.debug) removeTree(place.dir)
      }
    },
  }
}

async function prepare(
  context: ExecuteContext,
  settings: ProcessSettings,
  place: ProcessPlace,
): Promise<Pick<LiveClaude, 'workspace' | 'modelLink'>> {
  const { config, agent, redaction, prices } = context
  const workspace = await openWorkspace(place.workspace, config.execution.cwd ?? null)
  if (context.modelLink === null) return { workspace, modelLink: null }
  const modelLink = await openLiveLink({
    modelLink: context.modelLink,
    meter: agent.meter,
    places: {
      workspace: place.workspace,
      home: homeOf(context, place),
      tmp: place.tmp,
      ...projectOf(settings),
    },
    prices,
    redact: redaction.text,
  })
  return { workspace, modelLink }
}

/** Texts of a plugin name the directory it lies in, which is another one on another machine. */
function projectOf({ plugins }: ProcessSettings): { readonly project?: string } {
  const project = commonDirectory(plugins)
  return project === null ? {} : { project }
}

/** The nearest directory that all of them are or lie in; the first of them when that would be a whole disk. null when there are none. */
export function commonDirectory(directories: readonly string[]): string | null {
  const [first, ...rest] = directories
  if (first === undefined) return null
  const common = rest.reduce(nearest, first)
  return common.split(sep).filter((step) => step !== '').length < 2 ? first : common
}

function nearest(one: string, other: string): string {
  for (let directory = one; ; directory = dirname(directory))
    if (other === directory || other.startsWith(directory + sep) || directory === dirname(directory))
      return directory
}
