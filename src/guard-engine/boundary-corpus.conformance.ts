import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Scene } from '../rules/contract.ts'
import {
  callOf,
  type ProtectionCase,
  projectFiles,
  root,
  sceneOf,
  worldOf,
} from './protection-corpus.conformance.ts'
import { defaultSettings, type Settings } from './settings/settings.ts'
import type { Entry } from './world.conformance.ts'

type BoundarySettings = Settings['boundary']

/** One line of the corpus of calls inside and outside a boundary. */
export interface BoundaryCase extends ProtectionCase {
  readonly verdict: 'deny' | 'pass'
  readonly boundary?: Partial<BoundarySettings>
  /** The project the agent says it works in. */
  readonly at?: string
}

const files: Readonly<Record<string, Entry>> = {
  ...projectFiles,
  '.git/config': 'file',
  '.github/x': 'file',
  'sub/.git/config': 'file',
  'agent.yaml': { id: 'agent' },
  'twin.yaml': { id: 'agent' },
  'alias.yaml': { link: 'agent.yaml' },
  'agent/x': 'file',
  'template/agent.yaml': 'file',
  'packages/one/x': 'file',
  'packages/one/peer': { link: '../two' },
  'packages/two/x': 'file',
  inner: { link: 'src' },
  out: { link: '/home/dev/other' },
  'link-to-file': { link: '/home/dev/other/x' },
  '/home/dev/other/x': 'file',
  '/opt/x': 'file',
  '/etc/hosts': 'file',
  '/tmp/scratch/r/.git/config': 'file',
  '/tmp/alias': { link: '/tmp/scratch' },
}

/** No boundary, and the widest there is. */
export const off = defaultSettings.boundary
export const on: BoundarySettings = { ...off, enabled: true }

export const boundaryCorpus = readFileSync(
  join(import.meta.dirname, '../../test/corpus/guard/boundary.jsonl'),
  'utf8',
)
  .split('\n')
  .filter((line) => line !== '')
  .map((line): BoundaryCase => JSON.parse(line))

/** A call about to be made in a project with links that lead out, and a boundary. */
export function sceneWith(each: Omit<BoundaryCase, 'name' | 'verdict'>, boundary: BoundarySettings): Scene {
  const cwd = each.cwd === undefined ? root : join(root, each.cwd)
  const call = callOf({ name: '', ...each })
  const scene = sceneOf(call, worldOf({ files: { ...files, ...each.files } }), { cwd, at: each.at ?? root })
  return { ...scene, settings: { ...scene.settings, boundary: { ...boundary, ...each.boundary } } }
}
