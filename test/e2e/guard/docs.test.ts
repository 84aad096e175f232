import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { claudeCodeCodec } from '../../../src/agents/claude-code/hooks.ts'
import { type HookedAgent, hookCodecs } from '../../../src/agents/hook-codecs.ts'
import { installableAgents } from '../../../src/agents/hook-installers.ts'
import { guardHome } from '../../../src/guard-engine/ledger/ledger-place.ts'
import { openGuard } from '../../../src/guard-engine/open-guard.ts'
import { rules } from '../../../src/rules/index.ts'
import { fencesOf, readDocument, root } from '../support/documents.ts'
import { gantry } from '../support/gantry.ts'
import { makeProject, type TestProject } from '../support/project.ts'

const page = readDocument('docs/guard.md')
const rows = page.text
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .map(cellsOf)

describe('the page about the guard', () => {
  test('lists for every agent what it can enforce, like `guard status`', async () => {
    using project = makeProject()
    const agents = installableAgents.flatMap((agent) => ['--agent', agent])
    const env = { GANTRY_GUARD_HOME: join(project.store, 'guard') }
    await gantry(project, ['guard', 'install', ...agents], { env })
    const { stdout } = await gantry(project, ['guard', 'status'], { env })
    const said = stdout.replaceAll(/\s+/g, ' ')
    const at = rows.findIndex(([first]) => first === 'can the agent …')
    const names = rows[at]?.slice(1) as HookedAgent[]
    expect(names).toEqual(installableAgents)
    for (const [index, capability] of capabilities().entries()) {
      const [label = '', ...kinds] = rows[at + 2 + index] ?? []
      expect(kinds, label).toEqual(names.map((agent) => hookCodecs[agent].capabilities[capability].kind))
      if (kinds.some((kind) => kind !== 'yes')) expect(said).toContain(` ${label}`)
    }
  })
})

describe('the commands on the page', () => {
  const marked = (mark: string): readonly string[] =>
    fencesOf(page)
      .filter((fence) => fence.language === 'text' && fence.mark === mark)
      .flatMap(({ text }) => text.trimEnd().split('\n'))

  test.each(marked('denied'))('are denied: %s', async (command) => {
    expect(await verdictOn(command)).toBe('deny')
  })

  test.each(marked('allowed'))('are allowed: %s', async (command) => {
    expect(await verdictOn(command)).toBe('pass')
  })

  test.each(['python3 make_env.py', 'x=$(cat name); echo A > $x'])('are not stopped: %s', async (command) => {
    expect(page.text).toContain(`\`${command}\``)
    expect(await verdictOn(command)).toBe('pass')
  })
})

test.each(['docs/guard.md', 'docs/plan.md'])('the output in %s matches the program', async (path) => {
  using project = makeProject()
  cpSync(join(root, 'examples/guard'), project.path('examples/guard'), { recursive: true })
  execFileSync('git', ['init', '--quiet'], { cwd: project.dir })
  let printed = ''
  for (const { language, mark, text } of fencesOf(readDocument(path))) {
    if (language === 'sh' && mark === 'scratch') execFileSync('sh', ['-c', text], { cwd: project.dir })
    if (language === 'markdown') project.write({ [mark]: text })
    if (mark === 'agent-script') project.write({ 'worker.yaml': text })
    if (language !== 'console') continue
    for (const line of text.trimEnd().split('\n')) {
      if (line.startsWith('$ gantry '))
        printed = (await linesOf(project, line.slice(9).split(' '))).join(' ').replaceAll(/\s+/g, ' ')
      else if (line !== '…' && line.trim() !== '') {
        // A longer path of the project may wrap a line.
        const wanted = settled(line, project).trim()
        const found = printed.indexOf(wanted)
        expect(found, `${line}\n--- is not in what follows:\n${printed}`).not.toBe(-1)
        printed = printed.slice(found + wanted.length)
      }
    }
  }
})

test('the guard part of the demo works', () => {
  using project = makeProject()
  const url = pathToFileURL(join(root, 'scripts/demo-guard.ts')).href
  const code = `process.exitCode = (await (await import(process.argv[1])).demoGuard(process.argv[2])) ? 0 : 1`
  const argv = ['--input-type=module', '--eval', code, url, project.dir]
  const stdout = execFileSync(process.execPath, argv, { encoding: 'utf8' })
  for (const words of ['must not be modified', 'not done yet', 'not counted', 'VERIFIED'])
    expect(stdout).toContain(words)
})

async function linesOf(project: TestProject, argv: readonly string[]): Promise<string[]> {
  const env = { PWD: project.dir, GANTRY_GUARD_HOME: join(project.store, 'guard') }
  const { stdout, stderr } = await gantry(project, argv, { env })
  expect(stdout, stderr).not.toBe('')
  return stdout.split('\n').map((line) => settled(line, project))
}

/** Removes what differs between machines and runs. */
function settled(line: string, { dir, home }: TestProject): string {
  return line
    .replaceAll(dir, '~/shop')
    .replaceAll(home, '~')
    .replaceAll(/\b\d+(\.\d+)?(ms|s)\b/g, 'TIME')
    .replaceAll(/^\d\d:\d\d:\d\d\b/g, 'CLOCK')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

function cellsOf(line: string): string[] {
  return line
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim())
}

function capabilities(): (keyof typeof claudeCodeCodec.capabilities)[] {
  return Object.keys(claudeCodeCodec.capabilities) as (keyof typeof claudeCodeCodec.capabilities)[]
}

/** In a project with a few protected files and an installed guard's paths. */
async function verdictOn(command: string): Promise<string> {
  using project = makeProject({ '.env': 'A=1\n', 'config/x': '', 'new.txt': '', setup: '', name: '.env\n' })
  const env = { HOME: project.home, PATH: process.env.PATH }
  // As installed: there is a launcher to delete.
  const bin = join(guardHome(env), 'bin/claude-code-0')
  mkdirSync(bin, { recursive: true })
  writeFileSync(join(bin, 'gantry-hook.cjs'), '')
  const guard = openGuard({ rules, guardHome: guardHome(env), env })
  const payload = {
    cwd: project.dir,
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command },
  }
  const event = claudeCodeCodec.decode(payload, { event: null, env: {}, version: null })
  return (await guard.handle(event, { dry: true })).verdict
}
