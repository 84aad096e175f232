/// <reference lib="dom" />
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import axe from 'axe-core'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { needs } from '../../support/needs.ts'
import { type GantryOptions, gantryTest, startGantry } from '../support/gantry.ts'
import { makeProject, type TestProject } from '../support/project.ts'

const executablePath = ['/usr/bin/chromium', '/usr/bin/google-chrome'].find(existsSync)

export const hasBrowser: boolean = executablePath !== undefined

/** A test in a real browser. Skipped only where none is installed and CI is not set. */
export const inBrowser = needs('browser', hasBrowser)

/** One browser for the tests of a file. */
export function useBrowser(): () => Browser {
  let browser: Browser | undefined
  beforeAll(async () => {
    if (executablePath === undefined) return
    // The browser itself asks its maker for updates otherwise.
    const alone = '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox', alone] })
  })
  afterAll(() => browser?.close())
  return () => {
    if (browser === undefined) throw new Error('there is no browser')
    return browser
  }
}

const agent = `#!/bin/sh
say() { printf '%s\\n' "$1"; }
say '{"event":"message","role":"assistant","text":"I write the file."}'
say '{"event":"tool_call","id":"1","tool":"Bash","command":"echo done > out.txt"}'
echo done > out.txt
say '{"event":"tool_result","id":"1","output":"","exit_code":0}'
say '{"event":"usage","model":"m","input_tokens":100,"output_tokens":20,"cost_usd":0.01}'
say '{"event":"message","role":"assistant","text":"out.txt is written."}'
`

/** A project with two agents, of which one does nothing, and two cases. */
export function viewProject(files: Readonly<Record<string, unknown>> = {}): TestProject {
  const scenario = (name: string) => ({
    name,
    description: 'A file is written.',
    target: { binary: 'true' },
    template_folder: 'template',
    task: { prompt: `Write done to out.txt, for ${name}.` },
    evaluation: {
      gates: [
        { type: 'file_contains', path: 'out.txt', substring: 'done' },
        { type: 'tool_called', tool: 'Bash' },
      ],
    },
  })
  const project = makeProject({
    'gantry.yaml': {
      agents: {
        good: { driver: 'command', command: ['sh', './good.sh'], output: 'events' },
        idle: { driver: 'command', command: ['true'], output: 'events' },
        slow: { driver: 'command', command: ['sh', './slow.sh'], output: 'events' },
      },
      scenarios: ['scenarios/*.yaml'],
      fixtures_path: 'fixtures',
    },
    'fixtures/template/readme.txt': 'here',
    'good.sh': agent,
    'scenarios/first.yaml': scenario('first'),
    'scenarios/second.yaml': scenario('second'),
    ...files,
  })
  onTestFinished(() => project[Symbol.dispose]())
  return project
}

/** A run with passes and failures. */
export async function makeRun(project: TestProject, argv: readonly string[] = []): Promise<string> {
  const { run_id } = await gantryTest(project, ['--agent', 'good,idle', '--no-cache', ...argv])
  return run_id
}

export interface Viewer {
  readonly url: string
  readonly address: string
  stop(signal?: NodeJS.Signals): Promise<void>
}

/** `gantry view` in its own process. */
export async function startView(
  project: TestProject,
  argv: readonly string[] = [],
  options: GantryOptions = {},
): Promise<Viewer> {
  const words = ['view', '--no-open', '--json', ...(argv.includes('--port') ? [] : ['--port', '0']), ...argv]
  const { child, ended } = startGantry(project, words, options)
  const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<void> => {
    child.kill(signal)
    await ended
  }
  onTestFinished(() => stop('SIGKILL'))
  if (child.stdout === null) throw new Error('a child has a standard output')
  const [line] = await Promise.race([once(child.stdout, 'data'), ended.then(({ stderr }) => [stderr])])
  const { url, address } = JSON.parse(String(line))
  return { url, address, stop }
}

/** What went wrong in a page: errors, refused requests, requests to elsewhere. */
function watch(page: Page, url: string): string[] {
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`))
  page.on('console', (message) => {
    // A failed request of a stopped server is in the console too.
    if (message.type() === 'error' && !/Failed to load resource|net::ERR/.test(message.text()))
      faults.push(`console: ${message.text()}`)
  })
  page.on('request', (request) => {
    if (!request.url().startsWith(url)) faults.push(`elsewhere: ${request.url()}`)
  })
  return faults
}

export interface OpenedPage {
  readonly page: Page
  readonly context: BrowserContext
  readonly faults: readonly string[]
  /** Shows another view and waits until it has asked everything. */
  go(route: string): Promise<void>
}

/** Serious faults of access on the page as it is now. */
export async function accessFaults(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source)
  return await page.evaluate(async () => {
    const { violations } = await (Reflect.get(window, 'axe') as typeof axe).run(document, {
      resultTypes: ['violations'],
    })
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(
        ({ id, nodes }) =>
          `${id}: ${nodes
            .slice(0, 3)
            .map(({ target }) => String(target))
            .join(' | ')}`,
      )
  })
}

/** A page that has signed in. */
export async function openPage(
  browser: Browser,
  { url, address }: Pick<Viewer, 'url' | 'address'>,
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<OpenedPage> {
  const context = await browser.newContext({ viewport: { width: 1300, height: 850 }, ...options })
  context.setDefaultTimeout(120_000)
  onTestFinished(() => context.close())
  const page = await context.newPage()
  const faults = watch(page, url)
  await page.goto(address)
  await page.getByRole('heading', { level: 1 }).waitFor()
  const go = async (route: string): Promise<void> => {
    await page.evaluate((hash) => {
      location.hash = hash
    }, route)
    await page.waitForLoadState('networkidle')
  }
  return { page, context, faults, go }
}
