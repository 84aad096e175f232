import { corpusLines } from '../../test/support/corpus-lines.ts'
import type { ToolCall } from '../core/hook-event.ts'
import type { Scene } from '../rules/contract.ts'
import { protectFiles } from '../rules/protect-files.ts'
import type { World } from '../shell/world.ts'
import { noFacts } from './facts/gather-facts.ts'
import { historyFold } from './history/index.ts'
import { defaultSettings } from './settings/settings.ts'
import { type Entry, madeUpWorld } from './world.conformance.ts'

/** One line of a corpus of commands and calls. */
export interface ProtectionCase {
  readonly name: string
  readonly command?: string
  readonly call?: Pick<ToolCall, 'tool' | 'action'> & { readonly input?: unknown }
  /** In addition to the files of every case. */
  readonly files?: Readonly<Record<string, Entry>>
  readonly cwd?: string
  readonly patterns?: readonly string[]
  /** The real shell changes a protected file when it runs this. */
  readonly verify?: boolean
}

export const root = '/home/dev/app'

export const defaultPatterns = defaultSettings.fileProtection.protectedPatterns

/** The project of every case. */
export const projectFiles: Readonly<Record<string, Entry>> = {
  '.env': { text: 'A=1\n' },
  '.env.example': { text: 'A=\n' },
  '.gitignore': { text: 'node_modules\n' },
  'README.md': { text: 'read me\n' },
  'a.txt': { text: 'one\n' },
  'certs/ca.pem': { text: 'pem\n' },
  'config/app.json': { text: '{}\n' },
  'config/credentials.json': { text: '{}\n' },
  'dist/app.js': { text: '1\n' },
  'docs/guide.md': { text: 'guide\n' },
  'node_modules/pkg/test.pem': { text: 'pem\n' },
  'package.json': { text: '{}\n' },
  'scripts/build.sh': { text: '#!/bin/sh\nmkdir -p dist\ncat .env > /dev/null\n' },
  'server.key': { text: 'key\n' },
  'src/env.ts': { text: '1\n' },
  'src/index.ts': { text: '1\n' },
  sub: 'directory',
  '/home/dev/.ssh/id_rsa': { text: 'key\n' },
  '/tmp': 'directory',
}

export function readProtectionCorpus(name: string): readonly ProtectionCase[] {
  return corpusLines(name)
}

export function callOf({ command = '', call }: ProtectionCase): ToolCall {
  if (call !== undefined) return { id: null, input: null, ...call }
  const action = { kind: 'shell', command, background: false, language: 'bash' } as const
  return { id: null, tool: 'Bash', action, input: { command } }
}

export function worldOf({ files = {} }: Pick<ProtectionCase, 'files'>): World {
  return madeUpWorld({ root, files: { ...projectFiles, ...files } })
}

/** Why the rule refuses it, or null. */
export function reasonFor(each: Omit<ProtectionCase, 'name'>, enabled = true): string | null {
  const cwd = each.cwd === undefined ? root : `${root}/${each.cwd}`
  const patterns = each.patterns === undefined ? {} : { patterns: each.patterns }
  const call = callOf({ name: '', ...each })
  return protectFiles.judge(sceneOf(call, worldOf(each), { cwd, enabled, ...patterns }))?.deny ?? null
}

/** The event of a call before it runs, as a rule sees it. */
export function sceneOf(
  call: ToolCall,
  world: World,
  {
    cwd = root,
    at = root,
    patterns = defaultPatterns,
    enabled = true,
  }: {
    readonly cwd?: string
    readonly at?: string
    readonly patterns?: readonly string[]
    readonly enabled?: boolean
  } = {},
): Scene {
  return {
    event: {
      kind: 'tool_before',
      agent: 'claude-code',
      session: 's',
      agentId: null,
      agentType: null,
      promptId: null,
      cwd,
      root: at,
      call,
    },
    history: historyFold.initial,
    settings: {
      ...defaultSettings,
      fileProtection: { ...defaultSettings.fileProtection, enabled, protectedPatterns: patterns },
    },
    facts: noFacts,
    world,
    traits: {},
    nowMs: 0,
  }
}
