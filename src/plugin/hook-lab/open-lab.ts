import { join } from 'node:path'
import { copyTree } from '../../io/copy-tree.ts'
import { makeDirectories } from '../../io/directory.ts'
import { exec } from '../../io/exec.ts'
import { resolveInside, writeFileAtomic } from '../../io/files.ts'
import { findProgram } from '../../io/find-program.ts'
import { hermeticEnv } from '../../io/hermetic-env.ts'
import { removeTree } from '../../io/remove-tree.ts'
import { temporaryDirectory } from '../../io/temporary-directory.ts'
import { diffSnapshots, snapshotTree, type TreeSnapshot } from '../../io/tree-snapshot.ts'
import type { Analysis } from '../analyze/contract.ts'
import { type LabPlace, sessionId } from './lab-place.ts'

export type Lab = Awaited<ReturnType<typeof labIn>>

export interface LabOptions {
  readonly host: Readonly<Record<string, string | undefined>>
  /** A directory to copy as the workspace. Default: a small built-in project. */
  readonly workspace?: string
}

/** The directories for trying hooks: a copy of the plugin, and a new home and workspace for every event. */
export async function openLab(analysis: Analysis, options: LabOptions): Promise<Lab> {
  const scratch = temporaryDirectory('gantry-hooks-')
  try {
    return await labIn(scratch, analysis, options)
  } catch (error) {
    scratch[Symbol.dispose]()
    throw error
  }
}

async function labIn(
  scratch: Disposable & { readonly path: string },
  { plugin_path, plugin_name }: Analysis,
  { host, workspace }: LabOptions,
) {
  const pluginRoot = join(scratch.path, 'plugin')
  await copyTree(plugin_path, pluginRoot, {
    exclude: (path) => path === '.git' || resolveInside(plugin_path, path).kind === 'outside',
  })
  const template = workspace ?? (await makeProject(join(scratch.path, 'project'), host))
  const look = (): TreeSnapshot =>
    snapshotTree(pluginRoot, { exclude: (path) => path.split('/').some((name) => ofInterpreters.has(name)) })
  let seen = look()
  let places = 0
  let started: LabPlace | null = null
  return {
    /** As a session has it when the event occurs: for most events after the hooks of SessionStart. */
    async newPlace(event: string): Promise<LabPlace> {
      places += 1
      const begun = event === 'SessionStart' || event === 'Setup' ? null : started
      const root = join(scratch.path, `event-${places}`)
      const home = join(root, 'home')
      const place: LabPlace = {
        workspace: join(root, 'workspace'),
        home,
        tmp: join(root, 'tmp'),
        pluginRoot,
        pluginData: join(home, '.claude', 'plugins', 'data', `${plugin_name}-inline`),
        transcript: join(home, '.claude', 'projects', '-workspace', `${sessionId}.jsonl`),
        envFile: join(root, 'env.sh'),
      }
      for (const directory of [place.workspace, place.tmp, place.pluginData]) makeDirectories(directory)
      // A hook of SessionStart may link to programs of the machine, as a virtual environment does.
      if (begun !== null) await copyTree(begun.home, place.home, { keepsOutside: true })
      await copyTree(begun?.workspace ?? template, place.workspace, { keepsOutside: begun !== null })
      writeFileAtomic(place.transcript, transcript(place.workspace))
      writeFileAtomic(place.envFile, '')
      return place
    },
    /** Every later place begins as a copy of this one, which is kept. */
    beginWith(place: LabPlace): void {
      started = place
    },
    /** Called when an event is over. */
    discard: ({ workspace: inside }: LabPlace) => removeTree(join(inside, '..')),
    /** Paths in the copy of the plugin that changed since the last call. */
    changesInPlugin(): readonly string[] {
      const now = look()
      const { created, changed, deleted } = diffSnapshots(seen, now)
      seen = now
      return [...created, ...changed, ...deleted].toSorted()
    },
    [Symbol.dispose]: () => removeTree(scratch.path),
  }
}

/** Written by interpreters and package managers, not by the hook. */
const ofInterpreters: ReadonlySet<string> = new Set(['node_modules', '__pycache__'])

const files: Readonly<Record<string, string>> = {
  'README.md': '# Shop\n\nA small shop. `npm test` runs its tests.\n',
  'package.json': '{ "name": "shop", "version": "1.0.0", "scripts": { "test": "node --test" } }\n',
  'package-lock.json': '{ "name": "shop", "version": "1.0.0", "lockfileVersion": 3, "packages": {} }\n',
  'src/app.js': "console.log('hello')\n",
  'test/app.test.js': "import '../src/app.js'\n",
  'notes/plot.ipynb': '{ "cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5 }\n',
  '.env': 'API_KEY=made-up\n',
  '.gitignore': '.env\nnode_modules\n',
}

/** With a history, if git is available: many hooks use it. */
async function makeProject(root: string, host: LabOptions['host']): Promise<string> {
  for (const [path, text] of Object.entries(files)) writeFileAtomic(join(root, path), text)
  if (findProgram('git', host.PATH ?? '') === null) return root
  const env = hermeticEnv({ host, home: join(root, '..', 'nobody'), tmp: root })
  const person = ['-c', 'user.name=Lab', '-c', 'user.email=lab@example.test', '-c', 'commit.gpgsign=false']
  for (const args of [
    ['init', '-q', '-b', 'main', '--template='],
    ['add', '-A'],
    [...person, 'commit', '-q', '-m', 'Start'],
  ])
    await exec({
      argv: ['git', ...args],
      cwd: root,
      env: { ...env, GIT_CONFIG_NOSYSTEM: '1' },
      timeoutMs: 30_000,
    })
  return root
}

function transcript(cwd: string): string {
  const line = (type: 'user' | 'assistant', content: string, uuid: string): string =>
    JSON.stringify({
      type,
      sessionId,
      cwd,
      uuid,
      timestamp: '2026-01-01T00:00:00.000Z',
      message: { role: type, content },
    })
  return `${line('user', 'Fix the greeting.', 'u1')}\n${line('assistant', 'All done.', 'a1')}\n`
}
