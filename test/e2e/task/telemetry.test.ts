import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { afterwards, makeRepository, only, sum, task, taskRun, tested } from './lab.ts'
import { openModel } from './model.ts'

test.concurrent('a trace with the words of the GenAI conventions reaches a collector', async () => {
  const { url, bodies } = await collector(200)
  const model = await openModel({ edits: (number) => (number === 1 ? [sum('*'), tested()] : [sum('+')]) })
  const project = makeRepository()
  const run = await taskRun(project, model, [], { env: { OTEL_EXPORTER_OTLP_ENDPOINT: url } })
  expect(run.end.state).toBe('SUCCESS')
  expect(bodies).toHaveLength(1)
  const [sent] = bodies
  const spans: { name: string; parentSpanId?: string; attributes: { key: string; value: object }[] }[] =
    JSON.parse(sent?.body ?? '').resourceSpans[0].scopeSpans[0].spans
  expect(sent?.path).toBe('/v1/traces')
  const names = spans.map(({ name }) => name)
  expect(names[0]).toContain('gantry.task')
  expect(names.filter((name) => name === 'gantry.verify')).toHaveLength(2)
  expect(names.filter((name) => name.startsWith('chat '))).toHaveLength(3)
  expect(names.filter((name) => name.startsWith('invoke_agent'))).toHaveLength(2)
  const chat = spans.find(({ name }) => name.startsWith('chat '))
  expect(chat?.attributes.map(({ key }) => key)).toEqual(
    expect.arrayContaining(['gen_ai.operation.name', 'gen_ai.provider.name', 'gen_ai.request.model']),
  )
  // Neither prompts nor answers leave the machine.
  expect(sent?.body).not.toContain('You are Scout')
})

test.concurrent('a collector that refuses costs a note, and the end is still the last line', async () => {
  const { url } = await collector(503)
  const model = await openModel({ edits: () => [sum('+'), tested()] })
  const project = makeRepository()
  const run = await taskRun(project, model, [], { env: { OTEL_EXPORTER_OTLP_ENDPOINT: url } })
  expect(run.end.state).toBe('SUCCESS')
  expect(only(run, 'note').at(-1)?.message).toBe('the trace was refused with status 503')
  expect(only(run, 'task_ended')).toHaveLength(1)
})

test.concurrent('the budget is over Scouts and Editor together, and is kept', async () => {
  const model = await openModel({ edits: (number) => [sum(`* ${number} *`), tested(number)] })
  const project = makeRepository()
  const run = await taskRun(project, model, ['--max-cost-usd', '0.15'])
  expect(run.code, JSON.stringify(run.end)).toBe(1)
  expect(run.end).toMatchObject({ state: 'STUCK', report: expect.stringMatching(/stuck_report\.md$/) })
  expect(run.end.reason).toContain('--max-cost-usd')
  expect(run.end.cost_usd).toBeGreaterThan(0)
  expect(run.end.cost_usd).toBeLessThanOrEqual(0.15)
  expect(run.end.attempts).toBeLessThan(12)
  // What the first call may cost at most is more than this: nothing is sent.
  const asked = model.asked.length
  const poor = await taskRun(project, model, ['--max-cost-usd', '0.001', 'Fix the other sum.'])
  expect(poor.end).toMatchObject({ state: 'STUCK', attempts: 0 })
  expect(model.asked.length).toBe(asked)
})

test.concurrent('a model without a known price is unmetered, not free', async () => {
  const model = await openModel({ edits: () => [sum('+'), tested()] })
  const project = makeRepository()
  const run = await taskRun(project, { ...model, env: model.ownEndpoint })
  expect(run.end, run.stderr).toMatchObject({ state: 'SUCCESS', cost_usd: null })
  expect(only(run, 'task_started')).toMatchObject([{ model: 'openai-compatible:made-up' }])
  const { stdout } = await task(project, null, ['show', run.end.task_id])
  expect(stdout).toContain('unmetered')
})

async function collector(status: number) {
  const bodies: { readonly path: string | undefined; readonly body: string }[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (piece: string) => {
      body += piece
    })
    request.on('end', () => {
      bodies.push({ path: request.url, body })
      response.writeHead(status).end('{}')
    })
  })
  await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle))
  afterwards(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies }
}
