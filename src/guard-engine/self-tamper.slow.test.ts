import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { madeUpWorld } from '../../test/support/made-up-world.ts'
import type { PatchedFile, ToolAction, ToolCall } from '../core/hook-event.ts'
import { guardedPaths, realGuardedPaths } from './seal/guarded-paths.ts'
import { findTampering } from './seal/tampering/find-tampering.ts'

interface Case {
  readonly name: string
  readonly expect: 'deny' | 'pass'
  readonly cwd?: string
  readonly root?: string
  readonly shell?: string
  readonly write?: string
  readonly content?: string
  readonly edit?: string
  readonly new?: string
  readonly read?: string
  readonly patch?: readonly PatchedFile[]
  readonly mcp?: string
  readonly input?: unknown
}

const corpus = readFileSync(join(import.meta.dirname, '../../test/corpus/guard/self-tamper.jsonl'), 'utf8')
const cases = corpus
  .trimEnd()
  .split('\n')
  .map((line): Case => JSON.parse(line))

const home = '/home/dev'
const project = `${home}/project`
const guardHome = `${home}/.local/state/gantry/guard`
const pluginDir = `${home}/.claude/plugins/cache/gantry`

test('every attempt to tamper is refused, and similar harmless calls pass', () => {
  const wrong = cases.flatMap((given) => {
    const found = judge(given)
    const verdict = found === null ? 'pass' : 'deny'
    return verdict === given.expect ? [] : [`${given.name}: ${found ?? 'passed'}`]
  })
  expect(wrong).toEqual([])
})

test('the corpus is large and its names are unique', () => {
  expect(cases.filter((given) => given.expect === 'deny').length).toBeGreaterThanOrEqual(40)
  expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length)
})

function judge(given: Case): string | null {
  const { root = project, cwd = root } = given
  const place = {
    root,
    home,
    env: {},
    guardHome,
    hookBin: '/opt/gantry/hook-bin.js',
    pluginDir,
    agentFiles: [],
  }
  const empty = madeUpWorld(disk, { home, own: [] })
  const world = madeUpWorld(disk, {
    home,
    env: { HOME: home, PWD: cwd, PATH: '/opt/agents' },
    own: realGuardedPaths(guardedPaths(place), empty.resolve),
  })
  const mine = { count: 1, sinceTask: 1, sinceGreen: 1, contents: [] }
  const edits = () => ({ files: { [`${project}/mine.py`]: mine }, byAgent: {} })
  return findTampering(callOf(given), { agent: 'claude-code', cwd, root, world, edits })
}

const disk = {
  files: {
    [`${project}/harness.json`]: '{}',
    [`${project}/gantry.yaml`]: 'agents: {}\n',
    [`${project}/guarded/gantry.yaml`]: 'guard:\n  checklist: {}\n',
    [`${project}/.claude/settings.json`]: '{"hooks":{}}',
    [`${project}/.claude/commands/hi.md`]: 'hi',
    [`${project}/.harness/state.json`]: '{}',
    [`${project}/.git/info/exclude`]: '',
    [`${project}/.git/index`]: '',
    [`${project}/.github/workflows/ci.yml`]: '',
    [`${project}/.vscode/settings.json`]: '{}',
    [`${project}/src/a.ts`]: '',
    [`${project}/dist/a.js`]: '',
    [`${project}/off.json`]: '{"disableAllHooks": true}',
    [`${project}/mine.py`]: "import os\nos.remove('.claude/settings.json')\n",
    [`${project}/build.py`]: "print('harness.json')\n",
    [`${project}/x.sh`]: '#!/bin/sh\ncd .claude && rm -f settings.json\n',
    [`${project}/ok.sh`]: '#!/bin/sh\ncat harness.json\n',
    [`${project}/evil.patch`]: '--- a/harness.json\n+++ b/harness.json\n@@ -1 +1 @@\n-{}\n+[]\n',
    [`${project}/evil/.claude/settings.json`]: '{}',
    [`${home}/.bashrc`]: '',
    [`${home}/.claude/settings.json`]: '{}',
    [`${home}/.codex/config.toml`]: '',
    [`${pluginDir}/hooks/hooks.json`]: '{}',
    [`${guardHome}/key`]: 'secret',
    [`${guardHome}/bin/claude-code-0/gantry-hook.cjs`]: '',
    [`${guardHome}/projects/project-0/sessions/s1.jsonl`]: '',
    [`${guardHome}/projects/project-0/project.jsonl`]: '',
    '/opt/gantry/hook-bin.js': '',
    '/opt/agents/codex': '',
  },
  links: {
    [`${project}/claude-link`]: '.claude',
    [`${project}/link.json`]: '.claude/settings.json',
    [`${project}/helper`]: '/opt/agents/codex',
  },
  hardLinks: { [`${project}/hard.json`]: `${project}/harness.json` },
}

function callOf(given: Case): ToolCall {
  const { shell, write, edit, read, patch, mcp } = given
  const call = (tool: string, action: ToolAction, input: unknown = {}): ToolCall => ({
    id: 't1',
    tool,
    action,
    input,
  })
  if (shell !== undefined)
    return call(
      'Bash',
      { kind: 'shell', command: shell, background: false, language: 'bash' },
      { command: shell },
    )
  if (write !== undefined) return call('Write', { kind: 'write', path: write, content: given.content ?? '' })
  if (edit !== undefined)
    return call('Edit', { kind: 'edit', path: edit, edits: [{ old: 'a', new: given.new ?? '' }] })
  if (read !== undefined) return call('Read', { kind: 'read', path: read })
  if (patch !== undefined) return call('apply_patch', { kind: 'patch', text: '', files: patch })
  return call(mcp ?? '', { kind: 'unknown', server: 'files' }, given.input)
}
