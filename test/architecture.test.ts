import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  ambiguousTypes,
  filesWithOneImporter,
  type Import,
  imports,
  measureWay,
  root,
  sources,
  unclearNames,
} from '../scripts/house.ts'
import { ways } from '../scripts/ways.ts'

const parts = [
  'agents',
  'models',
  'sandboxes',
  'verifier',
  'rules',
  'guard-engine',
  'trials',
  'analysis',
  'gates',
  'judge',
  'store',
  'report',
]
/** The reader of shell commands: a library that every part may use. */
const library = 'shell'
/**
 * Parts that are built on other parts as a whole, and not only on their contracts. The verifier chooses a sandbox, keeps a run and
 * leaves evidence for the guard: every caller would otherwise have to pass in the same three parts.
 */
const builtOn: Readonly<Record<string, readonly string[]>> = {
  rules: ['guard-engine'],
  verifier: ['sandboxes', 'store', 'guard-engine'],
}
/** The user's gantry.yaml: it knows every part by its schema, and every face reads it. */
const config = 'config'
/** Runs an agent with its model behind the boundary: scripted, recorded, replayed or metered. */
const modelLink = 'model-link'
/** Puts hooks into agents, permanently or for one run: several faces do this to an agent they start. */
const guardInstall = 'guard-install'
const faces = ['scenario', 'plugin', 'task', 'guard']
/** Keys of gantry.yaml that a face declares beside its code. They know nothing of the face, so config may read them. */
const faceKeys = /^src\/plugin\/config\/keys\//
const shells = ['cli', 'server', 'library']
const pureLibraries = ['zod', 'json-p3', 're2js', 'package.json']
const outsideWorld =
  /^node:(fs|fs\/promises|child_process|net|http|https|http2|dgram|dns|os|crypto|sqlite|worker_threads|process|tty)$/

test('every import goes down the layers, never sideways and never up', () => {
  expect(imports.map(violation).filter((found) => found !== null)).toEqual([])
})

test('no file takes part in an import cycle', () => {
  expect(cycles()).toEqual([])
})

test('only io and the outer shells touch the outside world', () => {
  const touching = imports.filter(({ from, to }) => {
    const room = roomOf(from)
    return outsideWorld.test(to) && room !== 'io' && !shells.includes(room) && room !== '.'
  })
  expect(touching.map(describeImport)).toEqual([])
})

test('the keys that a face declares for gantry.yaml import nothing but zod', () => {
  const foreign = imports.filter(({ from, to }) => faceKeys.test(from) && !faceKeys.test(to) && to !== 'zod')
  expect(foreign.map(describeImport)).toEqual([])
})

test('no file takes the whole of zod, which would bring its translations into every command', () => {
  const whole = /import\('zod'\)|\} =\s+z(?:\.core)?\n/
  expect(sources.filter((file) => whole.test(readFileSync(join(root, file), 'utf8')))).toEqual([])
})

test('an exported type name means one thing, outside of families', () => {
  expect(ambiguousTypes()).toEqual([])
})

test.each(Object.entries(ways))('%s takes at most 15 files to follow', (_, steps) => {
  expect(measureWay(steps).files).toBeLessThanOrEqual(15)
})

test('the names of files in the parts of the hook program exist', () => {
  const script = readFileSync(join(root, 'scripts/build-hook.ts'), 'utf8')
  const patterns = script.match(/\/\^src.*\/[\],]/g) ?? []
  const names = patterns.flatMap((pattern) => pattern.match(/[a-z]+(?:-[a-z]+)+-?/g) ?? [])
  expect(names.length).toBeGreaterThan(30)
  expect(names.filter((name) => !sources.some((file) => file.includes(name)))).toEqual([])
})

test('files stay few, and few of them have a single importer', () => {
  expect(sources.length).toBeLessThanOrEqual(1500)
  expect(filesWithOneImporter().length).toBeLessThanOrEqual(450)
})

test('at least 95 of 100 files are named after an export', () => {
  expect(unclearNames().length).toBeLessThanOrEqual(sources.length * 0.05)
})

/** First folder below src; `.` for the entry files beside it. */
function roomOf(file: string): string {
  const [, room, rest] = file.split('/')
  return rest === undefined ? '.' : (room ?? '.')
}

function violation(edge: Import): string | null {
  const from = roomOf(edge.from)
  if (!edge.to.startsWith('src/')) {
    const pure = from !== 'core' || pureLibraries.includes(edge.to)
    return pure ? null : `${describeImport(edge)}: core stays pure`
  }
  const to = roomOf(edge.to)
  if (from === to || from === '.') return null
  return mayImport(from, to, edge.to) ? null : describeImport(edge)
}

function mayImport(from: string, to: string, file: string): boolean {
  if (from === 'core') return false
  if (to === 'core') return true
  if (from === 'io') return false
  if (to === 'io') return true
  if (from === library) return false
  if (to === library) return true
  if (parts.includes(from))
    return parts.includes(to) && (file.endsWith('/contract.ts') || builtOn[from]?.includes(to) === true)
  if (from === config && faceKeys.test(file)) return true
  const below = [...parts, config, modelLink, guardInstall]
  if (below.includes(from)) return below.slice(0, below.indexOf(from)).includes(to)
  if (faces.includes(from)) return below.includes(to)
  return shells.includes(from)
}

function cycles(): string[] {
  const graph = new Map<string, string[]>()
  for (const { from, to } of imports)
    if (to.startsWith('src/')) graph.set(from, [...(graph.get(from) ?? []), to])
  const found: string[] = []
  const state = new Map<string, 'open' | 'done'>()
  const visit = (file: string, trail: readonly string[]): void => {
    if (state.get(file) === 'done') return
    if (state.get(file) === 'open') {
      found.push([...trail.slice(trail.indexOf(file)), file].join(' -> '))
      return
    }
    state.set(file, 'open')
    for (const next of graph.get(file) ?? []) visit(next, [...trail, file])
    state.set(file, 'done')
  }
  for (const file of graph.keys()) visit(file, [])
  return found
}

function describeImport({ from, to }: Import): string {
  return `${from} imports ${to}`
}
