import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'

/** On one line: only the receipt knows how it was. */
const original = `{"env": { "A": "${'x'.repeat(200_000)}" }}`

let base: string

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'gantry-install-'))
  for (const name of ['project/.claude', 'home', 'guard']) mkdirSync(join(base, name), { recursive: true })
  writeFileSync(settings(), original)
})

afterEach(() => rmSync(base, { recursive: true, force: true }))

const settings = (): string => join(base, 'project/.claude/settings.local.json')
const names = (): readonly string[] => readdirSync(join(base, 'project/.claude')).sort()

/** A process of its own that installs or uninstalls; it says `ready` when it is about to begin, and its outcome at the end. */
function start(action: 'install' | 'uninstall', node = '/opt/node') {
  const request = `{
    agents: ['claude-code'], scope: 'project', dryRun: false, isSealed: false,
    place: { root: ${JSON.stringify(join(base, 'project'))}, home: '/nowhere', env: { GANTRY_GUARD_HOME: ${JSON.stringify(join(base, 'guard'))} } },
    program: { node: ${JSON.stringify(node)}, hookBin: '/opt/hook-bin.js' },
    eventsOf: () => [{ event: 'Stop', kind: 'stop', timeoutSeconds: 5, mustBlock: true }],
    checkPerson: async () => {}, seal: async () => {},
  }`
  const code = `
    const { ${action}Hooks } = await import(${JSON.stringify(join(import.meta.dirname, `${action}-hooks.ts`))})
    console.log('ready')
    const [{ result }] = await ${action}Hooks(${request})
    console.log(result)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  const ready = new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk) => {
      said += chunk
      if (said.includes('ready')) resolve()
    })
  })
  const ended = new Promise<readonly string[]>((resolve) =>
    child.on('close', () => resolve(said.trim().split('\n').slice(1))),
  )
  return { child, ready, ended }
}

test('of many installs at once one writes and makes one copy, and all succeed', async () => {
  const outcomes = await Promise.all(Array.from({ length: 6 }, () => start('install').ended))
  expect(outcomes.flat().sort()).toEqual(['installed', ...Array(5).fill('unchanged')])
  expect(names()).toEqual(['settings.local.json', expect.stringContaining('.gantry-backup-')])
  expect(await start('uninstall').ended).toEqual(['restored'])
  expect(readFileSync(settings(), 'utf8')).toBe(original)
  expect(names()).toEqual(['settings.local.json'])
}, 60_000)

test('whoever is killed at any moment leaves a whole file, and the way back to the original', async () => {
  for (let round = 0; round < 18; round += 1) {
    const action = round % 3 === 2 ? 'uninstall' : 'install'
    const { child, ready, ended } = start(action, `/opt/node-${round}`)
    await ready
    await sleep(round * 0.7)
    child.kill('SIGKILL')
    await ended
    expect(JSON.parse(readFileSync(settings(), 'utf8')).env.A).toHaveLength(200_000)
  }
  await start('install', '/opt/last').ended
  const [launcher = ''] = readFileSync(settings(), 'utf8').match(/\/[^"]*gantry-hook\.cjs/) ?? []
  expect(readFileSync(launcher, 'utf8')).toMatch(/^#!\/opt\/last\n/)
  expect(await start('uninstall').ended).toEqual(['restored'])
  expect(readFileSync(settings(), 'utf8')).toBe(original)
  expect(names()).toEqual(['settings.local.json'])
}, 60_000)
