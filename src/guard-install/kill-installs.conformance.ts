import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { launchedPrograms } from './hook-launcher.ts'

/** A project with settings, where separate processes install and uninstall hooks. */
export interface InstallLab extends Disposable {
  readonly settings: string
  /** What lies beside the settings. */
  names(): readonly string[]
  start(action: 'install' | 'uninstall', node?: string): ReturnType<typeof startInstall>
}

/** On one line, so only the receipt has the original. */
export const original = `{"env": { "A": "${'x'.repeat(200_000)}" }}`

export function openInstallLab(): InstallLab {
  const base = mkdtempSync(join(tmpdir(), 'gantry-install-'))
  for (const name of ['project/.claude', 'home', 'guard']) mkdirSync(join(base, name), { recursive: true })
  const settings = join(base, 'project/.claude/settings.local.json')
  writeFileSync(settings, original)
  return {
    settings,
    names: () => readdirSync(join(base, 'project/.claude')).sort(),
    start: (action, node = '/opt/node') => startInstall(base, action, node),
    [Symbol.dispose]: () => rmSync(base, { recursive: true, force: true }),
  }
}

/** A separate process that installs or uninstalls. Prints `ready` before it begins, and its outcome at the end. */
function startInstall(base: string, action: 'install' | 'uninstall', node: string) {
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
  let output = ''
  const ready = new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk) => {
      output += chunk
      if (output.includes('ready')) resolve()
    })
  })
  const ended = new Promise<readonly string[]>((resolve) =>
    child.on('close', () => resolve(output.trim().split('\n').slice(1))),
  )
  return { child, ready, ended }
}

/** Kills a process that installs or uninstalls, later in each round. Afterwards the file is complete and the way back is there. */
export async function playKilledInstalls(rounds: number): Promise<void> {
  using lab = openInstallLab()
  const { settings, names, start } = lab
  for (let round = 0; round < rounds; round += 1) {
    const action = round % 3 === 2 ? 'uninstall' : 'install'
    const { child, ready, ended } = start(action, `/opt/node-${round}`)
    await ready
    await sleep((round * 12) / rounds)
    child.kill('SIGKILL')
    await ended
    expect(JSON.parse(readFileSync(settings, 'utf8')).env.A).toHaveLength(200_000)
  }
  await start('install', '/opt/last').ended
  const [launcher = ''] = readFileSync(settings, 'utf8').match(/\/[^" ]*gantry-hook\.cjs/) ?? []
  expect(launchedPrograms(readFileSync(launcher, 'utf8'))[0]).toBe('/opt/last')
  expect(await start('uninstall').ended).toEqual(['restored'])
  expect(readFileSync(settings, 'utf8')).toBe(original)
  expect(names()).toEqual(['settings.local.json'])
}
