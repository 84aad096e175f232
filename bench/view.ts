/// <reference lib="dom" />
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type Browser, chromium, type Page } from 'playwright-core'
import { type GantryServer, openServer } from '../src/server/open-server.ts'
import type { Store } from '../src/store/contract.ts'
import { createRun } from '../src/store/create-run.ts'
import { openStore } from '../src/store/open-store.ts'
import { openQueue } from '../src/store/queue/open-queue.ts'
import { sampleRecord } from '../test/support/sample-record.ts'
import { compare, type Figure, inMemory, inTemporary, median, timed } from './figure.ts'

const token = 'token-of-the-benchmark'
const rounds = 5

/** From navigation to rows on screen: a run of 10,000 trials against one of 100. */
export function viewRun(): Promise<Figure> {
  return withPage(async ({ store, url, page }) => {
    const [large, small] = [await addRun(store, 10_000), await addRun(store, 100)]
    const show = (run: string) => open(page, `${url}/#/runs/${run}`, '.trials .verdict')
    for (const run of [large, small]) await show(run)
    return compare({
      name: 'page of a run of 10,000 trials',
      atMost: 2,
      baseline: 'that of 100 trials',
      rounds,
      ours: () => show(large),
      theirs: () => show(small),
    })
  })
}

/** What the server takes to filter and sort 10,000 trials, and the longest frame while a person scrolls through them. */
export function viewFilter(): Promise<Figure> {
  return withPage(async ({ store, url, page }) => {
    const run = await addRun(store, 10_000)
    const ask = (query: string) =>
      fetch(`${url}/v1/runs/${run}/trials?${query}`, { headers: { authorization: `Bearer ${token}` } })
    await ask('sort=cost')
    const queries = [
      'only=different&sort=cost',
      'text=7&sort=time&descending=true',
      'only=flaky&sort=case',
      'sort=score',
    ]
    const taken: number[] = []
    for (let round = 0; round < rounds; round += 1)
      for (const query of queries) taken.push(await timed(async () => (await ask(query)).arrayBuffer()))
    await open(page, `${url}/#/runs/${run}`, '.trials .verdict')
    const longestFrameMs = await page.evaluate(scrollThrough)
    const slowestMs = Math.max(...taken)
    return {
      name: 'filter and sort 10,000 trials',
      limit: 'at most 150 ms on the server, no frame over 100 ms while scrolling',
      ratio: slowestMs / 150,
      ok: slowestMs <= 150 && longestFrameMs <= 100,
      detail: { medianMs: median(taken), slowestMs, longestFrameMs },
    }
  })
}

/** From navigation to the first turns: a log of 100 MB against one of 1 MB, and the memory of the tab. */
export function viewTrial(): Promise<Figure> {
  return withPage(async ({ store, url, page }) => {
    const run = await addRun(store, 2)
    for (const [trial, megabytes] of [
      ['t00000', 100],
      ['t00001', 1],
    ] as const)
      writeLog(join(store.runsDir, run, 'trials', trial), megabytes)
    const show = (trial: string) => open(page, `${url}/#/runs/${run}/${trial}`, '.event .event-title')
    await show('t00001')
    const figure = await compare({
      name: 'page of a trial with a log of 100 MB',
      atMost: 2,
      baseline: 'that of a log of 1 MB',
      rounds,
      ours: () => show('t00000'),
      theirs: () => show('t00001'),
    })
    await show('t00000')
    await page.evaluate(() => Promise.resolve())
    const heapMb = await page.evaluate(
      () => (performance as unknown as { memory: { usedJSHeapSize: number } }).memory.usedJSHeapSize / 1e6,
    )
    return {
      ...figure,
      ok: figure.ok && heapMb < 300,
      limit: `${figure.limit}, under 300 MB`,
      detail: { ...figure.detail, heapMb },
    }
  })
}

/** The list of 5,000 runs against that of 50. */
export async function viewRuns(): Promise<Figure> {
  return withPage(async (large) =>
    withPage(async (small) => {
      for (let index = 0; index < 5_000; index += 1) await addRun(large.store, 1)
      for (let index = 0; index < 50; index += 1) await addRun(small.store, 1)
      const show = ({ page, url }: Viewed) => open(page, `${url}/#/`, '.list .verdict')
      for (const one of [large, small]) await show(one)
      return compare({
        name: 'list of 5,000 runs',
        atMost: 2,
        baseline: 'that of 50 runs',
        rounds,
        ours: () => show(large),
        theirs: () => show(small),
      })
    }),
  )
}

/** 50 clients follow a run of 5,000 trials that end while they watch. */
export function viewFollow(): Promise<Figure> {
  return withServer(async ({ store, url }) => {
    const trials = 5_000
    const run = createRun(store, { kind: 'scenario', title: 'bench', argv: [], cwd: store.root })
    run.writePlan({ trials: Array.from({ length: trials }, (_, index) => ({ id: idOf(index) })) })
    const clients = Array.from({ length: 50 }, () => follow(`${url}/v1/runs/${run.id}/events`))
    await sleep(500)
    const sizes: number[] = []
    for (let index = 0; index < trials; index += 1) {
      run.openTrial(idOf(index))
      run.finishTrial(recordOf(index))
      if (index % 50 === 0) await sleep(5)
      if (index % (trials / 5) === trials / 5 - 1) sizes.push(memoryInUse())
    }
    await run.end({ status: 'pass' })
    const seen = await Promise.all(clients)
    const complete = seen.filter((count) => count === trials).length
    // From the second fifth of the trials to the last: the first one warms up.
    const grownMb = ((sizes.at(-1) ?? 0) - (sizes[1] ?? 0)) / 1e6
    return {
      name: '50 clients that follow a live run',
      limit: `no event lost, memory of the server grows by less than ${maxGrowthMb} MB in 3,000 trials`,
      ratio: grownMb / maxGrowthMb,
      ok: complete === 50 && grownMb < maxGrowthMb,
      detail: { complete, grownMb },
    }
  })
}

/** What the run itself remembers of its trials, and no copy of them per client, which would be 75 MB. */
const maxGrowthMb = 15

/** Without garbage. */
function memoryInUse(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

interface Served {
  readonly store: Store
  readonly url: string
  readonly server: GantryServer
}

interface Viewed extends Served {
  readonly page: Page
}

function withServer<T>(work: (served: Served) => Promise<T>): Promise<T> {
  return inTemporary(async (directory) => {
    const store = openStore({ env: {}, cwd: directory, root: directory })
    const queue = openQueue(store)
    const server = await openServer({
      host: '127.0.0.1',
      port: 0,
      token,
      allowHosts: [],
      repositories: null,
      queue,
      store,
      guardHome: directory,
      submitter: null,
      log: { request: () => {}, failure: (error) => console.error(error) },
    })
    try {
      return await work({ store, url: server.url, server })
    } finally {
      await server.close()
      queue.close()
    }
  }, inMemory)
}

function withPage<T>(work: (viewed: Viewed) => Promise<T>): Promise<T> {
  return withServer(async (served) => {
    const args = ['--no-sandbox', '--enable-precise-memory-info']
    const browser: Browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args })
    try {
      const page = await (await browser.newContext({ viewport: { width: 1300, height: 850 } })).newPage()
      await page.goto(`${served.url}/#code=${served.server.newCode().code}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      return await work({ ...served, page })
    } finally {
      await browser.close()
    }
  })
}

/** A whole navigation, as after a click on a bookmark. */
async function open(page: Page, address: string, selector: string): Promise<void> {
  await page.goto('about:blank')
  await page.goto(address)
  await page.locator(selector).first().waitFor()
}

function idOf(index: number): string {
  return `t${String(index).padStart(5, '0')}`
}

function recordOf(index: number) {
  return sampleRecord(idOf(index), {
    case: `case ${index % 500}`,
    agent: index % 2 === 0 ? 'a' : 'b',
    verdict: index % 7 === 0 ? 'fail' : 'pass',
    attempt: Math.floor(index / 1_000) + 1,
    costUsd: (index % 13) / 100,
    durationMs: index % 97,
  })
}

async function addRun(store: Store, trials: number): Promise<string> {
  const run = createRun(store, { kind: 'scenario', title: 'bench', argv: [], cwd: store.root })
  run.writePlan({ trials: Array.from({ length: trials }, (_, index) => ({ id: idOf(index) })) })
  for (let index = 0; index < trials; index += 1) {
    run.openTrial(idOf(index))
    run.finishTrial(recordOf(index))
  }
  await run.end({ status: 'pass' })
  return run.id
}

function writeLog(directory: string, megabytes: number): void {
  mkdirSync(directory, { recursive: true })
  const file = openSync(join(directory, 'events.jsonl'), 'w')
  const output = 'x'.repeat(4_000)
  let lines = ''
  for (let index = 0; index < megabytes * 245; index += 1) {
    lines += `${JSON.stringify({ ts: index, event: 'tool_call', id: `c${index}`, tool: 'Bash', command: `echo ${index}` })}\n`
    lines += `${JSON.stringify({ ts: index, event: 'tool_result', id: `c${index}`, output, exit_code: 0 })}\n`
    if (lines.length > 1e6) {
      writeSync(file, lines)
      lines = ''
    }
  }
  writeSync(file, lines)
  closeSync(file)
}

/** In the page: scrolls from top to bottom and returns the longest time between two frames. */
async function scrollThrough(): Promise<number> {
  const box = document.querySelector('.trials')
  if (box === null) return Number.NaN
  let longest = 0
  let last = performance.now()
  for (let step = 0; step < 200; step += 1) {
    box.scrollTop = (box.scrollHeight * step) / 200
    await new Promise(requestAnimationFrame)
    const now = performance.now()
    // The first frames belong to loading the page.
    if (step > 5) longest = Math.max(longest, now - last)
    last = now
  }
  return longest
}

/** Counts the trials that a stream sends until it ends. */
function follow(address: string): Promise<number> {
  return new Promise((done, fail) => {
    request(address, { headers: { authorization: `Bearer ${token}` } }, (response) => {
      let [count, rest] = [0, '']
      response.setEncoding('utf8')
      response.on('data', (text: string) => {
        const parts = `${rest}${text}`.split('\n\n')
        rest = parts.pop() ?? ''
        count += parts.filter((part) => part.includes('event: trial')).length
      })
      response.on('end', () => done(count))
    })
      .on('error', fail)
      .end()
  })
}
