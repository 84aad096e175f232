import { dirname, join, sep } from 'node:path'
import type { AgentOutcome, AgentSession, SessionRequest } from '../../agents/contract.ts'
import { writeTextInside } from '../../io/change-inside.ts'
import { monotonicMs, systemClock } from '../../io/clock.ts'
import { copyFileInto } from '../../io/copy-file-into.ts'
import { copyTree } from '../../io/copy-tree.ts'
import { namesIn } from '../../io/directory.ts'
import { removeTree, writeJsonAtomic } from '../../io/files.ts'
import { isRealDirectory } from '../../io/list-directory.ts'
import { diffSnapshots, type SnapshotDelta, snapshotTree, type TreeSnapshot } from '../../io/tree-snapshot.ts'
import { openLiveLink } from '../../model-link/open-live-link.ts'
import { mockConfig } from '../cases/mock-servers.ts'
import { createCaptureRouter, createEventRouter } from './captures/capture-router.ts'
import { claudeSessionOpener } from './claude-settings.ts'
import type { Execution } from './contract.ts'
import {
  homeOf,
  makeProcessPlace,
  type ProcessPlace,
  type ProcessSettings,
  processEnvironment,
} from './process-settings.ts'
import type { ExecuteContext } from './request.ts'

export type LiveClaude = Awaited<ReturnType<typeof openLiveClaude>>

/**
 * One live process of Claude Code with its directories, model link and captures. `maxCostUsd`: for all scenarios of the process together.
 */
export async function openLiveClaude(
  context: ExecuteContext,
  settings: ProcessSettings,
  { maxCostUsd }: { readonly maxCostUsd?: number } = {},
) {
  const { config } = context
  const place = makeProcessPlace(context.workDir)
  const openSession = claudeSessionOpener(context, settings, writeMocks(settings, place))
  const home = homeOf(context, place)
  const limitMs = config.tuning.timeouts.plugin_load_ms
  const started = monotonicMs()
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
    // The CLI tells its model the remaining budget, which would make every recording differ. With a model link in between, the
    // link enforces the budget instead.
    ...(modelLink !== null ? { endpoint: modelLink.endpoint } : maxCostUsd !== undefined && { maxCostUsd }),
  }
  // Covers every kind of wait: a server that never answers, a hook that hangs.
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
    /** null when the process uses the caller's HOME, which is never changed. */
    ownHome: home === place.home ? home : null,
    /** null when it did not report what it loaded. */
    loaded: stopping.signal.aborted ? null : loaded,
    loadMs: monotonicMs() - started,
    spawned: eventRouter.spawned(),
    listen: eventRouter.listen,
    /** Clears the conversation and starts the next one. */
    async turn(): Promise<void> {
      eventRouter.forgetBeginning()
      captureRouter.turn()
      await session.clear?.()
      captureRouter.turned()
      isTurned = true
    },
    /** The conversation has started and is still empty. */
    isTurned: () => isTurned,
    async ask(...prompt: Parameters<AgentSession['ask']>): Promise<AgentOutcome> {
      isTurned = false
      captureRouter.ask()
      const outcome = await session.ask(...prompt)
      captureRouter.answered()
      return outcome
    },
    stop: (reason: 'over_budget') => stopping.abort(reason),
    /** Whether another scenario can be sent. */
    isUsable: () => !stopping.signal.aborted && session.isAlive?.() !== false && !workspace.isLost(),
    async close(): Promise<void> {
      try {
        await session.close()
      } finally {
        await modelLink?.close()
        if (!config.debug) removeTree(place.dir)
      }
    },
  }
}

/** The file with the mocks of the plugin's MCP servers; null when the real ones run. */
function writeMocks({ mocks }: ProcessSettings, { dir }: ProcessPlace): string | null {
  if (mocks === null) return null
  const path = join(dir, 'mocks.json')
  writeJsonAtomic(path, mockConfig(mocks))
  return path
}

async function prepare(context: ExecuteContext, settings: ProcessSettings, place: ProcessPlace) {
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

/** Texts of a plugin contain its directory, which differs between machines. */
function projectOf({ plugins }: ProcessSettings): { readonly project?: string } {
  const project = commonDirectory(plugins)
  return project === null ? {} : { project }
}

/** The nearest common directory; the first of them when that would be the root of a disk; null when there are none. */
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

/**
 * The working directory of a process, reset for every scenario. The directory itself stays; only its content changes. `template`
 * null: starts empty.
 */
export async function openWorkspace(dir: string, template: string | null) {
  if (template !== null) await copyTree(template, dir)
  const pristine = snapshotTree(dir)
  let marked: TreeSnapshot = pristine

  const strays = (): SnapshotDelta => diffSnapshots(pristine, snapshotTree(dir))
  const rebuild = async (): Promise<void> => {
    for (const name of namesIn(dir)) removeTree(join(dir, name))
    if (template !== null) await copyTree(template, dir)
  }
  /** A single file is restored; for anything else, such as a link or an empty directory, everything is rebuilt. */
  const undo = ({ created, changed, deleted }: SnapshotDelta): void => {
    for (const path of created) removeTree(join(dir, path))
    if (template === null) return
    for (const path of [...changed, ...deleted])
      if (pristine.get(path)?.kind === 'file') copyFileInto(join(template, path), dir, path)
  }

  return {
    dir,
    /** Restores what differs from the template. Returns the paths that differed. */
    async putBack(): Promise<readonly string[]> {
      const found = strays()
      if (isEmpty(found)) return []
      undo(found)
      // Directories of removed files are empty now and would count as changes.
      const rest = strays()
      if (!isEmpty(rest)) await rebuild()
      return [...found.created, ...found.changed, ...found.deleted].toSorted()
    },
    /** Writes the initial files of a scenario. Returns null, or why a file cannot be written. */
    write(files: Readonly<Record<string, string>>): string | null {
      for (const [path, text] of Object.entries(files)) {
        const change = writeTextInside(dir, path, text)
        if (change.kind === 'refused') return `the scenario's file cannot be written: ${change.reason}`
      }
      return null
    },
    /** Changes from now on are the agent's. */
    mark(): void {
      marked = snapshotTree(dir)
    },
    changes(): Execution['workspace_changes'] {
      const { created, changed, deleted } = diffSnapshots(marked, snapshotTree(dir, { against: marked }))
      const each = (paths: readonly string[], kind: 'created' | 'modified' | 'deleted') =>
        paths.filter((path) => !isGitsOwn(path)).map((path) => ({ path, kind }))
      return [...each(created, 'created'), ...each(changed, 'modified'), ...each(deleted, 'deleted')]
    },
    /** The agent removed or replaced the directory itself, so no process can work in it any more. */
    isLost: () => !isRealDirectory(dir),
  }
}

function isEmpty({ created, changed, deleted }: SnapshotDelta): boolean {
  return created.length + changed.length + deleted.length === 0
}

/** Reading a repository changes its index. */
function isGitsOwn(path: string): boolean {
  return path === '.git' || path.startsWith('.git/')
}
