import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { globSync } from 'tinyglobby'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const parts = [
  'agents',
  'models',
  'sandboxes',
  'verifier',
  'rules',
  'analysis',
  'gates',
  'judge',
  'store',
  'report',
]
/** The user's gantry.yaml: it knows every part by its schema, and every face reads it. */
const config = 'config'
/** The guard around an agent, for good or for the time of a run: what several faces do to an agent they start. */
const guarding = 'guarding'
const faces = ['scenario', 'plugin', 'task', 'guard']
const shells = ['cli', 'server']
const pureLibraries = ['zod', 'json-p3', 're2js', 'package.json']
const outsideWorld =
  /^node:(fs|fs\/promises|child_process|net|http|https|http2|dgram|dns|os|crypto|sqlite|worker_threads|process|tty)$/

interface Import {
  readonly from: string
  readonly to: string
}

const imports = globSync('src/**/*.ts', {
  cwd: root,
  ignore: ['**/*.test.ts', '**/*.conformance.ts'],
}).flatMap(importsOf)

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

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8')
  const specifiers = [
    ...text.matchAll(
      /(?:^|[\s;])(?:import|export)\b[^'"`;]*?from\s*['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]\s*\)|^import\s+['"]([^'"]+)['"]/gm,
    ),
  ]
  return specifiers.map(([, a, b, c]) => {
    const to = a ?? b ?? c ?? ''
    return { from: file, to: to.startsWith('.') ? normalize(join(dirname(file), to)) : to }
  })
}

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
  if (parts.includes(from)) return parts.includes(to) && file.endsWith('/contract.ts')
  if (from === config) return parts.includes(to)
  if (from === guarding) return parts.includes(to) || to === config
  if (faces.includes(from)) return parts.includes(to) || to === config || to === guarding
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
