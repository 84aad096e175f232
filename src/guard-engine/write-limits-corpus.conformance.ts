import { join } from 'node:path'
import { corpusLines } from '../../test/support/corpus-lines.ts'
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

type LimitSettings = Settings['boundary']

/** One line of the corpus of calls inside and outside the write limits. */
export interface WriteLimitsCase extends ProtectionCase {
  readonly verdict: 'deny' | 'pass'
  readonly boundary?: Partial<LimitSettings>
  /** The project that the agent reports. */
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

/** No write limits, and the widest ones. */
export const off = defaultSettings.boundary
export const on: LimitSettings = { ...off, enabled: true }

export const writeLimitsCorpus = corpusLines<WriteLimitsCase>('write-limits')

/** A call before it runs, under write limits, in a project with links that lead out of it. */
export function sceneWith(each: Omit<WriteLimitsCase, 'name' | 'verdict'>, limits: LimitSettings): Scene {
  const cwd = each.cwd === undefined ? root : join(root, each.cwd)
  const call = callOf({ name: '', ...each })
  const scene = sceneOf(call, worldOf({ files: { ...files, ...each.files } }), { cwd, at: each.at ?? root })
  return { ...scene, settings: { ...scene.settings, boundary: { ...limits, ...each.boundary } } }
}
