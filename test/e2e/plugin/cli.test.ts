import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { exec } from '../../../src/io/exec.ts'
import { ptyArgv } from '../../../src/io/pty.ts'
import { program } from '../../support/program.ts'
import { type GantryResult, gantry, startGantry } from '../support/gantry.ts'
import { makeProject, type TestProject } from '../support/project.ts'
import { readTap } from './read-tap.ts'
import { hostile, storedProject, storeRun } from './stored-run.ts'

const examples = resolve(import.meta.dirname, '../../../examples/plugin')
const commands = ['run', 'analyze', 'hooks', 'generate', 'execute', 'evaluate', 'resume', 'report', 'list']

let project: TestProject
let runId: string
let evaluated: GantryResult

beforeAll(async () => {
  project = storedProject()
  runId = await storeRun(project)
  evaluated = await gantry(project, ['plugin', 'evaluate', runId])
})
afterAll(() => project[Symbol.dispose]())

/** On a terminal of this size: what it showed, without its control codes. */
async function onTerminal(columns: number, argv: readonly string[]): Promise<string> {
  const { stdout } = await exec({
    argv: ptyArgv([process.execPath, program, ...argv], { rows: 40, columns }),
    cwd: project.dir,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: project.home,
      AGENT_ARTIFACT_DIR: project.store,
      LANG: 'C.UTF-8',
      TERM: 'xterm',
    },
    timeoutMs: 60_000,
  })
  return stripVTControlCharacters(stdout.text).replaceAll('\r', '')
}

function runsIn({ store }: TestProject): readonly string[] {
  const dir = join(store, 'runs')
  return existsSync(dir) ? readdirSync(dir).filter((name) => name.startsWith('run_')) : []
}

describe('help', () => {
  test('no line of any command is wider than a terminal of 80 columns', async () => {
    const columns = 80
    for (const command of ['', ...commands]) {
      const text = await onTerminal(
        columns,
        ['plugin', command, '--help'].filter((part) => part !== ''),
      )
      expect(text).toContain('Usage: gantry plugin')
      const wide = text.split('\n').filter((line) => line.length > columns && /\S\s+\S/.test(line.trim()))
      expect([command, wide]).toEqual([command, []])
    }
  })

  test('the commands that begin a run have the same flags for the same things', async () => {
    const help = async (name: string): Promise<string> =>
      (await gantry(project, ['plugin', name, '--help'])).stdout
    for (const flag of ['--marketplace', '--scope', '--scenarios', '--fast', '--json', '--dry-run'])
      for (const name of ['run', 'generate', 'execute']) expect(await help(name)).toContain(flag)
    expect(await help('run')).toContain('Exit codes: 0')
  })
})

describe('what cannot be is said before anything is made', () => {
  test.each([
    [['run', '-o', 'jsn'], 'Did you mean json?'],
    [['run', '-o', 'json', '-o', 'yaml'], 'Send one of them to a file'],
    [['run', '-o', 'html:'], 'has a colon but no path'],
    [['run', '--scope', 'skils'], "Did you mean 'skills'?"],
    [['run', '--arms', 'alone,foo'], "not 'foo'"],
    [['run', '--arms', 'crowd'], 'needs other plugins'],
    [['run', '--reps', '11'], 'at most 10'],
    [['run', '--timeout', '5'], 'its unit'],
    [['run', '--progress', 'loud'], 'auto, plain, jsonl, none'],
    [['run', '--dryrun'], 'Did you mean --dry-run?'],
    [['run', '/nowhere/at/all'], 'PATH_NOT_FOUND'],
    [['run', '--scenarios', 'no.yaml'], 'no.yaml does not exist'],
    [['run', '--replay', 'strict'], 'nothing was recorded in'],
    [['run', '--fast', '--failed-run', 'nosuch'], 'there is no run "nosuch"'],
    [['execute', '-o', 'json'], 'nothing to report before the last stage'],
    [['resume'], 'gantry plugin list'],
    [['evaluate', 'nosuch'], 'there is no run'],
    [['report', 'nosuch'], 'there is no run'],
    [['analze'], 'Did you mean analyze?'],
  ])('gantry plugin %j', async (argv, words) => {
    using own = makeProject({
      'plugin/.claude-plugin/plugin.json': '{"name": "demo"}',
      'gantry.yaml': { plugin: { plugin: { path: 'plugin' } } },
    })
    const result = await gantry(own, ['plugin', ...argv])
    expect(result.stderr).toContain(words)
    expect([result.code, result.stdout, runsIn(own)]).toEqual([2, '', []])
  })
})

describe('analyze, hooks, generate and --dry-run need no agent and no model', () => {
  test('analyze prints a plugin for people, and as JSON only JSON; its exit code tells findings from no plugin', async () => {
    const people = await gantry(project, ['plugin', 'analyze', 'plugin'])
    expect(people.stdout).toMatch(/^demo 1\.2\.0 {2}/)
    expect(people.stdout).toContain('demo:greet')
    const json = await gantry(project, ['plugin', 'analyze', 'plugin', '--json'])
    expect(JSON.parse(json.stdout)).toMatchObject({ plugin_name: 'demo' })
    expect([people.code, json.code, json.stderr]).toEqual([0, 0, ''])
    const broken = await gantry(project, ['plugin', 'analyze', join(examples, 'broken/unknown-event')])
    expect(broken.code).toBe(1)
    const none = await gantry(project, ['plugin', 'analyze', 'scenarios.yaml'])
    expect([none.code, none.stdout]).toEqual([2, ''])
  })

  test('hooks says where the rest is when a hook let something pass, and shows it with --verbose', async () => {
    const few = await gantry(project, ['plugin', 'hooks', join(examples, 'hooks-only')])
    expect(few.stdout).toContain('--verbose shows what was tried')
    expect(few.stdout).not.toContain('Write .env')
    const all = await gantry(project, ['plugin', 'hooks', join(examples, 'hooks-only'), '--verbose'])
    expect(all.stdout).toContain('Write .env')
    expect([few.code, all.code]).toEqual([0, 0])
  })

  test('--dry-run shows the components and the price, creates no run, and costs nothing with a script', async () => {
    using own = makeProject()
    cpSync(join(examples, 'overlapping'), own.path('plugin'), { recursive: true })
    const priced = await gantry(own, ['plugin', 'run', 'plugin', '--dry-run', '--json'])
    const { estimate } = JSON.parse(priced.stdout) as {
      estimate: { total_estimated_cost_usd: number; trials: number }
    }
    expect(estimate.total_estimated_cost_usd).toBeGreaterThan(0)
    const scripted = await gantry(own, ['plugin', 'run', '--dry-run'], { cwd: own.path('plugin') })
    expect(scripted.stdout).toContain('No cost:')
    expect(scripted.stdout).toContain('Nothing was run.')
    expect([priced.code, scripted.code, runsIn(own)]).toEqual([0, 0, []])
  })

  test('generate falls back to phrases without a model, and lists each component only with --verbose', async () => {
    using own = makeProject()
    cpSync(join(examples, 'overlapping'), own.path('plugin'), { recursive: true })
    const people = await gantry(own, ['plugin', 'generate', 'plugin'])
    expect(people.code).toBe(0)
    expect(people.stdout).toContain('no model is available')
    expect(people.stdout).toMatch(/condense-text-direct-1 +direct +yes +fallback/)
    expect(people.stdout).toMatch(/Next {3}gantry plugin resume run_/)
    expect(people.stdout).not.toMatch(/^ {2}.*: \d+ scenarios$/m)
    const json = await gantry(own, ['plugin', 'generate', 'plugin', '--json', '--write-cases', 'cases'])
    const parsed = JSON.parse(json.stdout) as { scenarios: readonly unknown[]; cases: readonly unknown[] }
    expect(parsed.cases).toHaveLength(parsed.scenarios.length)
    expect(existsSync(own.path('cases'))).toBe(true)
  })
})

describe('a stored run', () => {
  test('is reported in the order a reader needs: what to change, failures, figures, the verdict, next steps', () => {
    const stdout = evaluated.stdout.replaceAll(/(\S)\n +(?=\S)/g, '$1 ')
    const order = [
      /^demo {2}run_/m,
      /^What to change$/m,
      /skills\/greet\/SKILL\.md:\d+ +greet should have fired 2 times and missed 1/,
      /^What did not pass$/m,
      /likely cause: the description in skills\/greet\/SKILL\.md:\d+ did not make it the choice for "Bid <b>Bob<\/b>/,
      /^Components$/m,
      /^What fired instead$/m,
      /^Trials to record again$/m,
      /^Totals$/m,
      /Next {3}Continue with/,
    ].map((pattern) => stdout.search(pattern))
    expect(order.toSorted((a, b) => a - b)).toEqual(order)
    expect(order[0]).toBeGreaterThanOrEqual(0)
    expect(stdout).not.toContain('✓ right')
    expect(evaluated.code).toBe(3)
  })

  test('JUnit: fail is a failure, infra and invalid are errors, not run is skipped, for an independent parser', async () => {
    const { stdout, code } = await gantry(project, ['plugin', 'report', runId, '-o', 'junit-xml'])
    expect([code, XMLValidator.validate(stdout)]).toEqual([0, true])
    const parser = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: '', isArray: isList })
    const { testsuites } = parser.parse(stdout) as { readonly testsuites: Suites }
    expect(testsuites).toMatchObject({
      name: 'gantry-plugin',
      tests: '5',
      failures: '1',
      errors: '2',
      skipped: '1',
    })
    const cases = testsuites.testsuite.flatMap(({ testcase }) => testcase)
    const ends = cases.map((one) => [
      one.classname,
      (['failure', 'error', 'skipped'] as const).find((kind) => one[kind] !== undefined) ?? 'passed',
    ])
    expect(Object.fromEntries(ends)).toEqual({
      right: 'passed',
      wrong: 'failure',
      broken: 'error',
      unrecorded: 'error',
      'left-out': 'skipped',
    })
    const error = cases.find(({ classname }) => classname === 'broken')?.error
    expect(error?.message).toContain(
      'boom ]]&gt; &lt;failure&gt; &amp; &quot;quoted&quot;'.replaceAll(/&(\w+);/g, entity),
    )
  })

  test('GitHub: a failure is annotated where its component is described', async () => {
    const { stdout } = await gantry(project, ['runs', 'report', runId, '--reporter', 'github'])
    expect(stdout).toMatch(/^::error file=\S*skills\/greet\/SKILL\.md,line=3,title=fail%3A wrong /m)
  })

  test('TAP: what did not pass is not ok, what did not run is skipped, for an independent parser', async () => {
    const { stdout } = await gantry(project, ['plugin', 'report', runId, '-o', 'tap'])
    const { points, plan, version } = readTap(stdout)
    expect([plan, version]).toEqual([5, 14])
    expect(
      points.map(({ ok, description, directive }) => [description.split(' ')[0], ok, directive !== null]),
    ).toEqual([
      ['right', true, false],
      ['wrong', false, false],
      ['broken', false, false],
      ['unrecorded', false, false],
      ['left-out', true, true],
    ])
  })

  test.each(['json', 'yaml'])(
    '%s on standard output is nothing else, and the view for people is gone from a pipe',
    async (format) => {
      const result = await gantry(project, ['plugin', 'evaluate', runId, '-o', format])
      const document = (format === 'json' ? JSON.parse(result.stdout) : parse(result.stdout)) as {
        readonly run_id: string
        readonly results: readonly unknown[]
      }
      expect([document.run_id, document.results.length, result.stderr, result.code]).toEqual([
        runId,
        4,
        '',
        3,
      ])
    },
  )

  test('documents go to files beside the view for people, each whole', async () => {
    const { stdout, code } = await gantry(project, [
      'plugin',
      'report',
      runId,
      '-o',
      'html:out/r.html',
      '-o',
      'md:out/r.md',
      '-o',
      'junit:out/r.xml',
      '--cli',
    ])
    expect(code).toBe(0)
    expect(stdout).toContain('Wrote out/r.html')
    expect(stdout).toContain('What to change')
    expect(project.read('out/r.html')).toContain('<h2>What to change</h2>')
    expect(project.read('out/r.html')).not.toContain('<b>Bob</b>')
    expect(project.read('out/r.md')).toContain('## What to change')
    expect(XMLValidator.validate(project.read('out/r.xml'))).toBe(true)
  })

  test('report refuses a run of another plugin, and finds the latest by the name of the plugin', async () => {
    const other = await gantry(project, ['plugin', 'report', runId, '--plugin', 'other'])
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining("is of the plugin 'demo'")])
    const latest = await gantry(project, ['plugin', 'report', '--plugin', 'demo', '--json'])
    expect(JSON.parse(latest.stdout)).toMatchObject({ run_id: runId })
  })

  test('gantry runs report shows it with its own sections and next step', async () => {
    const { stdout, code } = await gantry(project, ['runs', 'report', runId])
    expect(code).toBe(0)
    expect(stdout).toContain('What to change')
    expect(stdout).toContain('gantry plugin run --fast')
    expect(stdout).not.toContain('--rerun-failed')
  })

  test('list has a line for it, as a table and as JSON', async () => {
    const table = await gantry(project, ['plugin', 'list'])
    expect(table.stdout).toMatch(/^RUN +WHEN +PLUGIN +STAGE +RESULT +COST$/m)
    expect(table.stdout).toContain(runId)
    const json = await gantry(project, ['plugin', 'list', '--plugin', 'demo', '--json'])
    expect(JSON.parse(json.stdout)).toMatchObject({
      total: 1,
      runs: [{ run_id: runId, plugin_name: 'demo' }],
    })
    const none = await gantry(project, ['plugin', 'list', '--plugin', 'nobody'])
    expect([none.code, none.stdout]).toEqual([0, expect.stringContaining('No plugin evaluations of nobody')])
  })

  test('--progress jsonl prints one object per line on standard error, and none prints nothing', async () => {
    const jsonl = await gantry(project, ['plugin', 'evaluate', runId, '--progress', 'jsonl', '--json'])
    const steps = jsonl.stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly kind: string })
    expect(steps.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['stage_start', 'stage_complete']))
    const none = await gantry(project, ['plugin', 'evaluate', runId, '--progress', 'none', '--json'])
    expect(none.stderr).toBe('')
  })

  test.each([100, 40])(
    'on a terminal of %d columns nothing is wider than it but paths, and no name is cut',
    async (columns) => {
      const text = await onTerminal(columns, ['plugin', 'report', runId])
      const wide = text
        .split('\n')
        .filter((line) => line.length > columns && !/^ *(files:|Files) /.test(line))
      expect(wide).toEqual([])
      expect(text).toContain('skill:greet')
      expect(text).not.toContain('no room for')
      expect(text).not.toContain('…')
    },
  )

  test('colours are for terminals, and NO_COLOR takes them away', async () => {
    const run = async (env: Readonly<Record<string, string>>): Promise<string> => {
      const { ended } = startGantry(project, ['plugin', 'report', runId], { env })
      return (await ended).stdout
    }
    expect(await run({ FORCE_COLOR: '1' })).toContain('\u001b[')
    expect(await run({ FORCE_COLOR: '1', NO_COLOR: '1' })).not.toContain('\u001b[')
    expect(await run({})).not.toContain('\u001b[')
  })

  test('a reader that goes away early is not a failure', async () => {
    const child = spawn(
      'sh',
      ['-c', `"${process.execPath}" "${program}" plugin report ${runId} -o html 2>err.txt | head -n 1`],
      {
        cwd: project.dir,
        env: { PATH: process.env.PATH, HOME: project.home, AGENT_ARTIFACT_DIR: project.store },
      },
    )
    let out = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text
    })
    await once(child, 'close')
    expect([out, project.read('err.txt')]).toEqual(['<!doctype html>\n', ''])
  })

  test('what a message of the machinery holds starts no markup and no control code', async () => {
    for (const format of ['md', 'html', 'tap', 'junit-xml']) {
      const { stdout } = await gantry(project, ['plugin', 'report', runId, '-o', format])
      expect(stdout).toContain('boom')
      expect(stdout).not.toContain('\u0007')
      if (format === 'html' || format === 'junit-xml') expect(stdout).not.toContain(hostile.slice(5, 17))
    }
  })
})

interface Case {
  readonly classname: string
  readonly failure?: Ending
  readonly error?: Ending
  readonly skipped?: Ending
}

interface Ending {
  readonly message: string
}

interface Suites {
  readonly testsuite: readonly { readonly testcase: readonly Case[] }[]
}

function isList(name: string): boolean {
  return name === 'testsuite' || name === 'testcase'
}

const entities: Readonly<Record<string, string>> = { gt: '>', lt: '<', amp: '&', quot: '"' }

function entity(_: string, name: string): string {
  return entities[name] ?? ''
}

test('a resumed run is reported as it was configured', async () => {
  using project = storedProject()
  const plugin = {
    plugin: { path: 'plugin' },
    scenarios: ['scenarios.yaml'],
    scope: { skills: false, agents: false, commands: false },
    output: { format: 'junit-xml', junit_test_suite_name: 'suite of ours', include_cli_summary: false },
  }
  project.write({ 'gantry.yaml': { plugin } })
  const id = await storeRun(project)
  project.write({ 'gantry.yaml': {} })
  const { stdout, stderr, code } = await gantry(project, ['plugin', 'evaluate', id])
  expect(code, stderr).toBe(3)
  expect(stdout).not.toContain('Totals')
  const report = readFileSync(join(project.store, 'runs', id, 'reports/evaluation.xml'), 'utf8')
  expect(report).toContain('<testsuites name="suite of ours"')
})

test('without a key nothing is begun, and what would help is said', async () => {
  using project = storedProject()
  project.write({ 'bin/claude': '#!/bin/sh\necho "2.1.325 (Claude Code)"\n' })
  chmodSync(project.path('bin/claude'), 0o755)
  const agent = { driver: 'claude-code', binary: './bin/claude' }
  const plugin = {
    plugin: { path: 'plugin' },
    scenarios: ['scenarios.yaml'],
    scope: { skills: false, agents: false, commands: false },
    execution: { agent: 'mine' },
  }
  project.write({ 'gantry.yaml': { agents: { mine: agent }, plugin } })
  const { stderr, code } = await gantry(project, ['plugin', 'run'])
  expect(code).toBe(2)
  expect(stderr).toContain("agent 'mine' cannot proceed without model access")
  expect(stderr).toContain('ANTHROPIC_API_KEY')
  expect(stderr).not.toContain('plugin resume')
  const unknown = await gantry(project, ['plugin', 'run', '--agent', 'nobody'])
  expect(unknown.stderr).toContain("no agent 'nobody'")
  expect(unknown.stderr).not.toContain('plugin resume')
  project.write({
    'plugin/evals/tone/prompt.md': 'Say hello.',
    'plugin/evals/tone/graders/kind.md': '---\ntype: llm\n---\nIs it kind?\n',
  })
  const judged = await gantry(project, ['plugin', 'run'])
  expect(judged.code).toBe(2)
  expect(judged.stderr).toContain('a grader of tone asks a model, and there is no access to a model')
  const others = await gantry(project, ['plugin', 'run', '--no-cases'])
  expect(others.stderr).not.toContain('a grader of')
  // No run that cannot be resumed stays in the store.
  expect((await gantry(project, ['runs', 'list'])).stdout).toContain('No runs')
})
