import { execFileSync, spawnSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fencesOf } from './support/documents.ts'

const root = join(import.meta.dirname, '../..')
const home = mkdtempSync(join(tmpdir(), 'gantry-package-'))
const project = join(home, 'project')
const nodeDirectory = join(process.execPath, '..')
const env = {
  ...process.env,
  PATH: `${nodeDirectory}:${process.env.PATH}`,
  AGENT_ARTIFACT_DIR: join(home, 'store'),
}

beforeAll(() => {
  run(process.execPath, [join(root, 'scripts/build.ts')], root)
  run('npm', ['pack', '--silent', '--pack-destination', home], join(root, 'dist'))
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{ "name": "somebody", "private": true, "type": "module" }\n')
  const tarball = readdirSync(home).find((name) => name.endsWith('.tgz')) ?? ''
  run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', join(home, tarball)], project)
  cpSync(join(root, 'examples/jot'), join(project, 'jot'), { recursive: true })
})

afterAll(() => rmSync(home, { recursive: true, force: true }))

test('the installed program prints its version', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  expect(gantry(['--version'])).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' })
})

test('an older Node is named as the cause', () => {
  const older = '{ value: { ...process.versions, node: "20.20.2" } }'
  const preload = `data:text/javascript,Object.defineProperty(process, 'versions', ${older})`
  const program = join(project, 'node_modules/gantry/cli/bin.js')
  const ran = spawnSync(process.execPath, ['--import', preload, program, 'test'], { encoding: 'utf8' })
  expect(ran.stderr).toContain('gantry needs Node 24 or newer')
  expect(ran.status).toBe(3)
})

test('the installed program runs a scenario and tells a lying agent from a working one', () => {
  const ran = gantry(['test', '--agent', 'careful,hasty', '--judge-model', 'scripted:judge.yaml', '--json'])
  const { summary, trials } = JSON.parse(ran.stdout)
  expect(ran.stderr).toBe('')
  expect(ran.status).toBe(1)
  expect(summary.counts).toEqual({ pass: 3, fail: 3, infra: 0, invalid: 0 })
  expect(
    trials
      .filter((trial: { verdict: string }) => trial.verdict === 'pass')
      .every((trial: { agent: string }) => trial.agent === 'careful'),
  ).toBe(true)
})

test('the installed package is a library whose types and functions work', () => {
  writeFileSync(
    join(project, 'use.ts'),
    `import { runScenarios, type TrialRecord, version } from 'gantry'
import type { AnalysisOutput, EvalConfig, TestScenario } from 'gantry/types'
export type Older = [AnalysisOutput['plugin_name'], EvalConfig['execution'], TestScenario['user_prompt']]
await import('gantry/types')
const seen: TrialRecord[] = []
const result = await runScenarios(
  { cwd: ${JSON.stringify(join(project, 'jot'))}, paths: ['capture'], agents: ['careful'] },
  { reporters: [{ trialEnded: (trial) => void seen.push(trial) }] },
)
console.log(JSON.stringify({ version, verdict: result.summary.verdict, seen: seen.map((trial) => trial.case) }))
`,
  )
  const ran = spawnSync(process.execPath, ['use.ts'], { cwd: project, env, encoding: 'utf8' })
  expect(ran.stderr).toBe('')
  expect(JSON.parse(ran.stdout)).toMatchObject({ verdict: 'pass', seen: ['capture notes'] })
  expect(typeErrors(['use.ts'])).toBe('')
})

test('every example of the page about the library has the types of the installed package', () => {
  const page = { path: 'docs/library.md', text: readFileSync(join(root, 'docs/library.md'), 'utf8') }
  const examples = fencesOf(page).filter(({ language }) => language === 'ts')
  expect(examples.length).toBeGreaterThan(15)
  const files = examples.map(({ text }, index) => {
    const file = `example-${index}.mts`
    writeFileSync(join(project, file), text)
    return file
  })
  expect(typeErrors(files)).toBe('')
})

test('the installed program runs parts of the user that import the installed package', () => {
  cpSync(join(root, 'examples/own-parts'), join(project, 'own-parts'), { recursive: true })
  const ran = gantry(['test', '--reporter', './reporter.js'], 'own-parts')
  expect(ran).toMatchObject({ status: 0, stderr: '' })
  expect(ran.stdout).toMatch(/^pass\ttidy notes\ttidy\npass\trun_/)
})

test('parts of the user work in a directory that has no package at all', () => {
  const elsewhere = join(home, 'elsewhere')
  cpSync(join(root, 'examples/own-parts'), elsewhere, { recursive: true })
  const program = join(project, 'node_modules/.bin/gantry')
  const ran = spawnSync(program, ['test', '--reporter', './reporter.js'], {
    cwd: elsewhere,
    env,
    encoding: 'utf8',
  })
  expect(ran).toMatchObject({ status: 0, stderr: '' })
  const script = join(project, 'run-elsewhere.ts')
  writeFileSync(
    script,
    `import { runScenarios } from 'gantry'
const { summary } = await runScenarios({ cwd: ${JSON.stringify(elsewhere)} })
console.log(summary.verdict)
`,
  )
  const used = spawnSync(process.execPath, [script], { cwd: project, env, encoding: 'utf8' })
  expect(used).toMatchObject({ stdout: 'pass\n', stderr: '' })
})

test('the installed package with its dependencies stays under 60 MB', () => {
  const bytes = sizeOf(join(project, 'node_modules'))
  console.log(`installed size: ${(bytes / 1e6).toFixed(1)} MB`)
  expect(bytes).toBeLessThan(60e6)
})

test('every schema of the repository is in the package', () => {
  const names = (directory: string): string[] => readdirSync(directory).sort()
  expect(names(join(project, 'node_modules/gantry/schemas'))).toEqual(names(join(root, 'schemas')))
})

/** What the compiler of a user says, with the types that the package brings. */
function typeErrors(files: readonly string[]): string {
  const options = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--skipLibCheck', 'false']
  const target = ['--module', 'nodenext', '--target', 'es2024', '--lib', 'es2024,esnext.disposable']
  const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')]
  const tsc = join(root, 'node_modules/.bin/tsc')
  return spawnSync(tsc, [...options, ...target, ...types, ...files], { cwd: project, encoding: 'utf8' })
    .stdout
}

function gantry(
  args: readonly string[],
  directory = 'jot',
): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(join(project, 'node_modules/.bin/gantry'), args, {
    cwd: join(project, directory),
    env,
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

function run(command: string, args: readonly string[], cwd: string): void {
  execFileSync(command, args, { cwd, env, stdio: ['ignore', 'ignore', 'inherit'] })
}

function sizeOf(path: string): number {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return 0
  if (!stats.isDirectory()) return stats.size
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0)
}
