import { expect, onTestFinished, test } from 'vitest'
import { openServerLab } from '../../../test/support/server-lab.ts'
import type { TaskQueue } from '../../store/queue/contract.ts'
import { servedTasks } from '../served-tasks.ts'
import type { FanOutLimits, FeedFilter, FeedSink } from './contract.ts'
import { fanOutLimits, openFanOut } from './fan-out.ts'

const small: FanOutLimits = { ...fanOutLimits, ringBytes: 2_000, chunkBytes: 500, page: 7 }
const everything: FeedFilter = { level: 'detail' }

/** An in-memory client that takes everything at once, or only on demand. */
interface TestSink extends FeedSink {
  text: string
  isStuck: boolean
  state: 'open' | 'ended' | 'destroyed'
}

function openFeed(limits = small) {
  const lab = openServerLab()
  const { queue } = lab
  const tasks = servedTasks(queue, [lab.repository])
  const problems: unknown[] = []
  const feed = openFanOut(sourceOf(queue, tasks), (error) => problems.push(error), limits)
  onTestFinished(() => feed.close())
  const join = (filter: FeedFilter, afterId = queue.lastEventId()) => {
    const sink: TestSink = {
      text: '',
      isStuck: false,
      pendingBytes: 0,
      state: 'open',
      write(bytes) {
        sink.text += Buffer.from(bytes).toString('utf8')
        return !sink.isStuck
      },
      end() {
        sink.state = 'ended'
      },
      destroy() {
        sink.state = 'destroyed'
      },
    }
    return { sink, subscription: feed.subscribe(sink, filter, afterId) }
  }
  return { lab, queue, feed, join, problems }
}

function sourceOf(queue: TaskQueue, { isServed, isOver }: ReturnType<typeof servedTasks>) {
  return { events: queue.events, lastEventId: queue.lastEventId, watch: queue.watch, isServed, isOver }
}

function idsIn({ text }: TestSink): readonly number[] {
  return [...text.matchAll(/^id: (\d+)\nevent: /gm)].map(([, id]) => Number(id))
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((done) => setTimeout(done, 2))
}

function fill(queue: TaskQueue, id: string, count: number): readonly number[] {
  return Array.from({ length: count }, (_, n) =>
    queue.append(id, { kind: n % 3 === 0 ? 'milestone' : 'note', n }, n % 3 === 0 ? 'milestone' : 'detail'),
  )
}

test('a stream begins with its position, and an event has lines for id, kind and content', async () => {
  const { lab, queue, join } = openFeed()
  const id = lab.submit()
  const { sink } = join(everything)
  expect(sink.text).toBe('retry: 2000\nid: 1\n\n')
  queue.append(id, { kind: 'note', message: 'one\ntwo "größe" \u2028' }, 'detail')
  queue.append(id, { kind: 'bad\ndata: x' }, 'detail')
  await until(() => idsIn(sink).length === 2)
  expect(sink.text.slice(sink.text.indexOf('id: 2'))).toBe(
    'id: 2\nevent: note\ndata: {"kind":"note","message":"one\\ntwo \\"größe\\" \u2028"}\n\n' +
      'id: 3\nevent: message\ndata: {"kind":"bad\\ndata: x"}\n\n',
  )
})

test('clients get milestones, details on request, and one task on request', async () => {
  const { lab, queue, join } = openFeed()
  const [one, two] = [lab.submit(), lab.submit()]
  const [milestones, details, ofTwo] = [
    join({ level: 'milestone' }).sink,
    join(everything).sink,
    join({ level: 'detail', taskId: two }).sink,
  ]
  const [ofOne, second] = [fill(queue, one, 9), fill(queue, two, 9)]
  const all = [...ofOne, ...second]
  await until(
    () => idsIn(details).length === 18 && idsIn(ofTwo).length === 9 && idsIn(milestones).length === 6,
  )
  expect(idsIn(details)).toEqual(all)
  expect(idsIn(milestones)).toEqual(all.filter((_, n) => n % 3 === 0))
  expect(idsIn(ofTwo)).toEqual(second)
})

test('events of repositories that are not served are not sent', async () => {
  const { lab, queue, join } = openFeed()
  const hidden = queue.submit({
    repository: lab.other,
    description: 'secret',
    dryRun: false,
    verbose: false,
    options: {},
  }).id
  const { sink } = join(everything, 0)
  fill(queue, hidden, 50)
  const shown = fill(queue, lab.submit(), 1)
  await until(() => idsIn(sink).includes(shown[0] ?? 0))
  expect(idsIn(sink)).toEqual([51, ...shown])
  const late = join(everything, 0)
  await until(() => idsIn(late.sink).length === 2)
  expect(idsIn(late.sink)).toEqual([51, ...shown])
})

test('a client that does not read delays no other and misses nothing later', async () => {
  const { lab, queue, feed, join } = openFeed()
  const id = lab.submit()
  const [slow, quick] = [join(everything), join(everything)]
  slow.sink.isStuck = true
  const ids = [...fill(queue, id, 10)]
  await until(() => idsIn(slow.sink).length > 0 && idsIn(quick.sink).length === 10)
  const before = slow.sink.text
  for (let round = 0; round < 20; round += 1) {
    ids.push(...fill(queue, id, 25))
    await until(() => idsIn(quick.sink).length === ids.length)
  }
  expect(slow.sink.text).toBe(before)
  expect(before.length).toBeLessThan(700)
  expect(feed.ringBytes).toBeLessThanOrEqual(small.ringBytes)
  slow.sink.isStuck = false
  slow.subscription.drained()
  await until(() => idsIn(slow.sink).length >= ids.length)
  expect(idsIn(slow.sink)).toEqual(ids)
  expect(idsIn(quick.sink)).toEqual(ids)
})

test('a client that reconnects with an id gets exactly the later events, from database or ring', async () => {
  const { lab, queue, join } = openFeed()
  const ids = [1, ...fill(queue, lab.submit(), 60)]
  const { sink: live } = join(everything, 0)
  await until(() => idsIn(live).length === ids.length)
  for (const place of [0, 1, 20, 58, 60, 61]) {
    const { sink } = join(everything, place)
    const missing = ids.filter((id) => id > place)
    await until(() => idsIn(sink).length >= missing.length)
    expect(idsIn(sink), `after ${place}`).toEqual(missing)
  }
})

test('an event larger than one write is sent whole', async () => {
  const { lab, queue, join } = openFeed()
  const { sink } = join(everything)
  queue.append(lab.submit(), { kind: 'note', text: 'x'.repeat(5_000) }, 'detail')
  queue.append('task_x', { kind: 'note' }, 'detail')
  await until(() => sink.text.includes(`${'x'.repeat(5_000)}"}\n\n`))
})

test('the stream of one task ends with its last event or when the task is deleted', async () => {
  const { lab, queue, join } = openFeed()
  const ended = lab.begin()
  const follow = join({ level: 'milestone', taskId: ended }, 0).sink
  queue.append(ended, { kind: 'task_ended', state: 'SUCCESS' }, 'milestone')
  queue.append(ended, { kind: 'milestone' }, 'milestone')
  await until(() => follow.state === 'ended')
  expect(follow.text).toMatch(/event: task_ended\n.*\n\n$/)
  const queued = lab.submit()
  const removed = join({ level: 'milestone', taskId: queued }, 0).sink
  await until(() => idsIn(removed).length === 1)
  expect(removed.state).toBe('open')
  queue.cancel(queued)
  await until(() => removed.state === 'ended')
  queue.end(ended, { state: 'STUCK', summary: null, error_message: null })
  const late = join({ level: 'milestone', taskId: ended }, queue.lastEventId()).sink
  await until(() => late.state === 'ended')
})

test('a client that reads nothing for too long is disconnected, an idle one gets heartbeats', async () => {
  const { lab, queue, feed, join } = openFeed({ ...small, heartbeatMs: 10, stallMs: 40 })
  const [stuck, idle] = [join(everything), join(everything)]
  stuck.sink.isStuck = true
  fill(queue, lab.submit(), 1)
  await until(() => stuck.sink.state === 'destroyed' && idle.sink.text.includes('\n\n:\n\n'))
  expect(idle.sink.state).toBe('open')
  expect(feed.clients).toBe(1)
})

test('closing ends every stream, and a disconnected client is removed', async () => {
  const { feed, join } = openFeed()
  const [gone, here] = [join(everything), join(everything)]
  gone.subscription.close()
  expect(feed.clients).toBe(1)
  feed.close()
  expect([gone.sink.state, here.sink.state]).toEqual(['open', 'ended'])
  expect(join(everything).sink.state).toBe('ended')
})

test('a database error is reported, and the reader continues when the database works again', async () => {
  const { queue, lab } = openFeed()
  const tasks = servedTasks(queue, [lab.repository])
  let isBroken = true
  const problems: unknown[] = []
  const feed = openFanOut(
    {
      ...sourceOf(queue, tasks),
      events: (query) => {
        if (isBroken) throw new Error('disk I/O error')
        return queue.events(query)
      },
    },
    (error) => problems.push(error),
  )
  onTestFinished(() => feed.close())
  let text = ''
  feed.subscribe(
    {
      write: (bytes) => {
        text += Buffer.from(bytes).toString('utf8')
        return true
      },
      pendingBytes: 0,
      end() {},
      destroy() {},
    },
    everything,
    0,
  )
  lab.submit()
  await until(() => problems.length > 0)
  isBroken = false
  await until(() => text.includes('id: 1\nevent: milestone'))
})
