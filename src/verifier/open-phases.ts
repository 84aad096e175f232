import { dirname, join } from 'node:path'
import { copyTree } from '../io/copy-tree.ts'
import {
  directoriesIn,
  makeDirectories,
  modifiedAtMs,
  moveIfExists,
  namesIn,
  readTextIfExists,
} from '../io/directory.ts'
import { ownUser } from '../io/file-owner.ts'
import { gitFiles } from '../io/git-files.ts'
import { listFiles } from '../io/list-files.ts'
import { lockHolder } from '../io/lock.ts'
import { entryKind, isDirectory } from '../io/path-kind.ts'
import { removeIfEmpty } from '../io/remove-if-empty.ts'
import { removeTree } from '../io/remove-tree.ts'
import { isSameEntry, type SavedEntry, saveEntry } from '../io/saved-entry.ts'
import { sha256 } from '../io/sha256.ts'
import { makeSharedDirectory } from '../io/shared-directory.ts'
import type { CacheMount, SandboxNetwork, SandboxOpening } from '../sandboxes/contract.ts'
import type { VerificationStep, VerifyRequest } from './contract.ts'
import { stepEnv } from './step-env.ts'

/** Steps that share a sandbox: consecutive ones with the same network. */
export interface Phase {
  readonly isSetup: boolean
  readonly network: SandboxNetwork
  readonly steps: VerificationStep[]
  /** Index of its first step. */
  readonly first: number
}

/** What `setup` and earlier steps of a run have written, and what is kept of it. */
export type Phases = Awaited<ReturnType<typeof openPhases>>

/** Older ones are removed. */
const keptSetups = 3

/** What decides about the layers of setup, and those that an earlier run has left. */
export async function findSetup(
  { config, repository, engine, isUntouched }: SetupRequest,
  cachesDir: string,
) {
  const { setup = [], image, env, caches } = config
  const files = setup.length === 0 && isUntouched === undefined ? [] : await filesOf(repository)
  const isOfSources = setup.some(({ command }) => installsProject(command))
  const decisive = files
    .filter((path) => isOfSources || decides(path, setup))
    .map((path) => [path, sha256(readTextIfExists(join(repository, path)) ?? '')])
  const facts = [engine.name, ownUser().uid, image, setup, env, caches, decisive]
  const own = join(cachesDir, 'setups', sha256(JSON.stringify(facts)).slice(0, 32))
  // Without a sandbox a layer would be a copy of everything.
  const isKept = setup.length > 0 && engine.name !== 'host'
  const found = isKept && isDirectory(own) ? layersIn(own) : null
  const isUsable = found?.every((layer) => hiddenBy(layer, files).size === 0) === true
  return { files, own, isKept, known: isUsable ? found : null }
}

type SetupRequest = Pick<VerifyRequest, 'config' | 'repository' | 'engine' | 'isUntouched'>

export async function openPhases(request: VerifyRequest) {
  const { config, repository, engine, run } = request
  const { image, caches } = config
  const cachesDir = request.cachesDir ?? join(run.dir, 'caches')
  const { files, own, isKept, known } = await findSetup(request, cachesDir)
  const place = dirname(own)
  const isSetupKnown = known !== null
  const isWatched =
    request.isUntouched !== undefined && config.workspace === 'overlay' && engine.name !== 'host'
  const draft = join(cachesDir, 'drafts', run.id)
  for (const id of namesIn(dirname(draft)))
    if (lockHolder(join(dirname(run.dir), id, 'lock')) === null) removeTree(join(dirname(draft), id))
  const all = phasesOf(config, isSetupKnown)
  const setups = all.filter(({ isSetup }) => isSetup).length
  const layerOf = (index: number): string =>
    join(draft, index < setups ? 'setup' : 'steps', String(index).padStart(3, '0'))
  const copies = (): Promise<readonly CacheMount[]> =>
    Promise.all(
      caches.map(async ({ name, path }) => {
        const source = join(draft, 'caches', name)
        makeSharedDirectory(source)
        if (isDirectory(join(cachesDir, name)))
          await copyTree(join(cachesDir, name), source, { keepsOutside: true })
        return { source, target: path, writes: 'through' }
      }),
    )
  let copied: readonly CacheMount[] | null = null
  /** Setup writes to a copy, which steps see. */
  const cachesFor = async (isSetup: boolean): Promise<readonly CacheMount[]> => {
    if (isSetup) copied ??= await copies()
    if (isSetup && copied !== null) return copied
    return caches.map(({ name, path }, index) => {
      const source = copied?.[index]?.source ?? join(cachesDir, name)
      makeSharedDirectory(source)
      return { source, target: path, writes: 'aside' }
    })
  }
  return {
    all,
    /** An earlier run with the same lock files has left its layers, so setup does not run again. */
    isSetupKnown,
    /** A sandbox for one phase, on the layers of those before it. */
    open: async (index: number): Promise<SandboxOpening> => {
      const { isSetup = false, network = config.network, steps = [] } = all[index] ?? {}
      const [only, ...others] = steps
      const before = all.slice(0, index).map((_, at) => layerOf(at))
      // A layer would hide later changes of what the repository has itself.
      if (index === setups)
        for (const layer of before)
          for (const path of new Set(hiddenBy(layer, files).values())) removeTree(path)
      const layers = [...before.reverse(), ...(known ?? [])]
      const isKeptHere = index < all.length - 1 || isWatched
      if (isKeptHere) makeDirectories(layerOf(index))
      return engine.open({
        runId: run.id,
        image,
        repository,
        ...(request.origin !== undefined && { origin: request.origin }),
        workspace: config.workspace,
        artifacts: join(run.dir, 'artifacts'),
        network,
        limits: config.limits,
        caches: request.cachesDir === undefined ? [] : await cachesFor(isSetup),
        ...(only !== undefined && others.length === 0 && { onlyStep: { ...only, env: stepEnv(config) } }),
        ...(layers.length > 0 && { layers }),
        ...(isKeptHere && { keep: layerOf(index) }),
        env: request.env,
        signal: request.signal,
        onProgress: (text) => request.onEvent?.({ kind: 'progress', text }),
      })
    },
    /** Files of the repository that steps have changed, but for their layout, or removed, as later steps saw them. Of a task on a workspace that they may write to. */
    rewritten: (): readonly string[] => {
      const changed = all.flatMap(({ isSetup }, index) =>
        isSetup || !isWatched
          ? []
          : [...hiddenBy(layerOf(index), files)].filter(
              ([path, above]) => !isSameProgram(saveEntry(above), saveEntry(join(repository, path))),
            ),
      )
      return [...new Set(changed.map(([path]) => path))]
    },
    /** The next run finds the layers of setup, and the caches. */
    keep: (): void => {
      if (isKept && setups > 0) {
        for (const layer of layersIn(join(draft, 'setup')))
          for (const work of ['workspace.work', 'home.work']) {
            // The kernel creates it for root alone; while empty, the owner of its parent can remove it.
            removeIfEmpty(join(layer, work, 'work'))
            removeTree(join(layer, work))
          }
        makeDirectories(place)
        removeTree(own)
        moveIfExists(join(draft, 'setup'), own)
        const age = (name: string): number => -(modifiedAtMs(join(place, name)) ?? 0)
        const byAge = namesIn(place).toSorted((one, other) => age(one) - age(other))
        for (const name of byAge.slice(keptSetups)) removeTree(join(place, name))
      }
      if (copied === null) return
      for (const { name } of caches) {
        moveIfExists(join(cachesDir, name), join(draft, `old-${name}`))
        moveIfExists(join(draft, 'caches', name), join(cachesDir, name))
      }
    },
    /** Removes everything that was not kept. */
    discard: (): void => removeTree(draft),
  }
}

/** A formatter changes only the layout of a file: spaces, quotes, semicolons, commas and parentheses. */
function isSameProgram(one: SavedEntry, other: SavedEntry): boolean {
  const bare = ({ base64 }: SavedEntry & { kind: 'file' }): string =>
    Buffer.from(base64, 'base64')
      .toString('latin1')
      .replaceAll(/[\s'"`;,()]+/g, '')
  return one.kind === 'file' && other.kind === 'file'
    ? one.mode === other.mode && bare(one) === bare(other)
    : isSameEntry(one, other)
}

function phasesOf({ setup = [], steps, network }: VerifyRequest['config'], isSetupKnown: boolean) {
  const phases: Phase[] = []
  for (const [first, step] of [...setup, ...steps].entries()) {
    const isSetup = first < setup.length
    const wanted = step.network ?? network
    const last = phases.at(-1)
    if (isSetup && isSetupKnown) continue
    if (last?.isSetup === isSetup && last.network === wanted) last.steps.push(step)
    else phases.push({ isSetup, network: wanted, steps: [step], first })
  }
  return phases
}

/** The newest first. */
function layersIn(directory: string): readonly string[] {
  return [...directoriesIn(directory)]
    .sort()
    .reverse()
    .map((name) => join(directory, name))
}

/** Tracked files and those that are not ignored. */
async function filesOf(repository: string): Promise<readonly string[]> {
  const isLeft = (path: string): boolean => /(?:^|\/)(?:node_modules|\.venv|\.git|target)$/.test(path)
  return (await gitFiles(repository)) ?? listFiles(repository, { exclude: isLeft })
}

/** Files that say what is installed, in any directory, and those that a command of setup names. */
function decides(path: string, setup: readonly { readonly command: string }[]): boolean {
  return (
    lockFiles.test(path) ||
    setup.some(({ command }) =>
      command.split(/[\s'"=;&|()]+/).some((word) => word.replace(/^\.\//, '') === path),
    )
  )
}

/** Whether a command installs a copy of the project itself, as `pip install .` does: then every file of it decides. */
function installsProject(command: string): boolean {
  return command.split(/&&|\|\||[;\n|]/).some((part) => {
    const rest = part.replaceAll(
      /\s(?:-[ercCt]|--(?:editable|requirement|constraint|target|prefix|cwd|dir))[ =]\S+/g,
      '',
    )
    const isOwn =
      /\s["']?\.(?:\/[^\s"']*)?(?:\[[^\]]*\])?["']?(?=\s|$)|\bsetup\.py\b|^\s*(?:make|ninja|meson|cmake)\b/
    return /\binstall\b/.test(rest) && isOwn.test(rest)
  })
}

const lockFiles =
  /(?:^|\/)(?:package(?:-lock)?\.json|npm-shrinkwrap\.json|pnpm-(?:lock|workspace)\.yaml|yarn\.lock|bun\.lockb?|\.npmrc|\.yarnrc\.yml|\.nvmrc|\.node-version|pyproject\.toml|setup\.(?:py|cfg)|requirements[\w.-]*\.(?:txt|in)|constraints[\w.-]*\.txt|uv\.lock|poetry\.lock|pdm\.lock|Pipfile(?:\.lock)?|\.python-version|go\.(?:mod|sum|work|work\.sum)|Cargo\.(?:toml|lock)|rust-toolchain(?:\.toml)?|Gemfile(?:\.lock)?|composer\.(?:json|lock)|pom\.xml|(?:build|settings)\.gradle(?:\.kts)?|gradle\.lockfile|libs\.versions\.toml|mix\.(?:exs|lock))$/

/** Files of the repository that a layer has too, or has removed, each with the entry of the layer that hides it. */
function hiddenBy(layer: string, files: readonly string[]): ReadonlyMap<string, string> {
  const workspace = join(layer, 'workspace')
  const tops = new Set(namesIn(workspace))
  const hidden = files.flatMap((path): [string, string][] => {
    const names = path.split('/')
    if (!tops.has(names[0] ?? '')) return []
    let above = workspace
    for (const name of names) {
      above = join(above, name)
      const kind = entryKind(above)
      if (kind === null) return []
      if (kind !== 'directory') return [[path, above]]
    }
    return []
  })
  return new Map(hidden)
}
