// npm run screenshots: makes the pictures in docs/images anew from runs of the examples, so that they show the page as it is.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { buildView } from './build-view.ts'

const root = join(import.meta.dirname, '..')
const images = join(root, 'docs/images')
const gantry = join(root, 'bin/gantry')
const executablePath = ['/usr/bin/chromium', '/usr/bin/google-chrome'].find(existsSync)
if (executablePath === undefined) throw new Error('no browser is installed: apt-get install chromium')

await buildView(join(root, 'dist/view'))
mkdirSync(images, { recursive: true })
const store = mkdtempSync(join(tmpdir(), 'gantry-'))
// A copy, so that the pictures show no path of this machine.
const project = join(store, 'jot')
cpSync(join(root, 'examples/jot'), project, { recursive: true })
const env = { ...process.env, AGENT_ARTIFACT_DIR: store }
for (let round = 0; round < 3; round += 1)
  try {
    execFileSync(gantry, ['test', '--agent', 'careful,hasty', '--repeat', '3', '--no-judge', '--no-cache'], {
      cwd: project,
      env,
      stdio: 'ignore',
    })
  } catch {
    // One of the two agents fails its checks: that is what the pictures show.
  }
const [run = ''] = readdirSync(join(store, 'runs')).toSorted().reverse()
const trial =
  readdirSync(join(store, 'runs', run, 'trials')).find((name) => name.includes('finish-a-note-hasty')) ?? ''
const server = spawn(gantry, ['view', '--no-open', '--json', '--port', '0'], {
  cwd: project,
  env,
  stdio: ['ignore', 'pipe', 'inherit'],
})
const [line] = await once(server.stdout, 'data')
const { address } = JSON.parse(String(line))
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
try {
  const page = await (
    await browser.newContext({ viewport: { width: 1200, height: 720 }, colorScheme: 'light' })
  ).newPage()
  await page.goto(address)
  const routes = {
    run: `/runs/${run}`,
    trial: `/runs/${run}/${trial}`,
    compare: `/compare?sides=${run}:careful,${run}:hasty`,
    trends: '/trends',
  }
  for (const [name, route] of Object.entries(routes)) {
    await page.evaluate((hash) => {
      Reflect.get(globalThis, 'location').hash = hash
    }, route)
    await page.waitForLoadState('networkidle')
    await page.waitForTimeout(1_500)
    await page.screenshot({ path: join(images, `${name}.png`) })
    console.log(`wrote docs/images/${name}.png`)
  }
} finally {
  await browser.close()
  server.kill()
  rmSync(store, { recursive: true, force: true })
}
