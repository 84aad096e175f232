import { parse } from 'yaml'
import {
  endpointVariables,
  type IncomingCall,
  type ModelCall,
  type Reply,
  type Responder,
} from '../../../src/models/boundary/contract.ts'
import { openBoundary } from '../../../src/models/boundary/open-boundary.ts'
import { createScriptResponder } from '../../../src/models/boundary/script/responder.ts'
import { boundaryScriptSchema } from '../../../src/models/boundary/script/schema.ts'
import { scoutA, scoutB } from '../../support/task-lab.ts'
import { afterwards } from './lab.ts'

/** The role that makes a call. */
export type Role = 'scout_a' | 'scout_b' | 'diagnosis' | 'strategy' | 'editor'

type Call = Readonly<Record<string, unknown>>

export interface ModelOptions {
  /** What the Editor's conversation with this number, from 1, wants to do before it says that it is done. */
  readonly edits?: (number: number, prompt: string) => readonly Call[]
  /** Answer to the n-th question for another strategy, from 1. */
  readonly strategies?: (number: number) => string
  readonly scoutA?: object | string
  readonly scoutB?: object | string
  /** The answer to why a verification failed, when it is not that of Scout B. */
  readonly diagnosis?: string
}

export interface TestModel {
  /** For the environment of Gantry: it takes the server for Anthropic's. */
  readonly env: Readonly<Record<string, string>>
  /** The same server as an endpoint of one's own. */
  readonly ownEndpoint: Readonly<Record<string, string>>
  /** Calls that were answered, in order. */
  readonly answered: readonly Role[]
  /** Calls that came in, answered or not. */
  readonly asked: readonly Role[]
  readonly prompts: readonly { readonly role: Role; readonly text: string }[]
  count(role: Role): number
  /** The next call of this role is not answered until it is let go; resolves when it is there. */
  hold(role: Role, nth?: number): Promise<() => void>
  /** From the next call of this role on the server is gone. */
  dieAt(role: Role): void
  close(): Promise<void>
}

/** A model on the boundary, in this process: a real server on loopback, whose answers a test decides. */
export async function openModel(options: ModelOptions = {}): Promise<TestModel> {
  return serve(scripted(options))
}

/** One that answers from a file, as `gantry boundary serve --script` does. */
export async function openScriptedModel(text: string): Promise<TestModel> {
  return serve(createScriptResponder(boundaryScriptSchema.parse(parse(text))))
}

interface Hold {
  readonly role: Role
  left: number
  readonly arrived: () => void
  readonly free: Promise<void>
}

async function serve(responder: Responder): Promise<TestModel> {
  const asked: Role[] = []
  const answered: Role[] = []
  const prompts: { role: Role; text: string }[] = []
  const holds: Hold[] = []
  let deadAt: Role | null = null
  const boundary = await openBoundary({ closeGraceMs: 50 })
  const close = (): Promise<void> => boundary.close()
  const answer = async (incoming: IncomingCall): Promise<Reply> => {
    const role = roleOf(incoming.call)
    asked.push(role)
    prompts.push({ role, text: incoming.call.messages.map(({ text }) => text).join('\n') })
    if (role === deadAt) {
      void close()
      await new Promise<void>((settle) => incoming.signal.addEventListener('abort', () => settle()))
    }
    const hold = holds.find((each) => each.role === role && each.left > 0)
    if (hold !== undefined) {
      hold.left -= 1
      if (hold.left === 0) {
        hold.arrived()
        await Promise.race([
          hold.free,
          new Promise<void>((settle) => incoming.signal.addEventListener('abort', () => settle())),
        ])
      }
    }
    const reply = await responder.answer(incoming)
    if (!incoming.signal.aborted) answered.push(role)
    return reply
  }
  const { endpoint } = boundary.open({ responder: { name: 'script', answer } })
  afterwards(close)
  return {
    env: endpointVariables(endpoint),
    ownEndpoint: {
      AGENT_LLM_BASE_URL: `${endpoint.url}/v1`,
      AGENT_LLM_MODEL: 'made-up',
      AGENT_LLM_API_KEY: endpoint.key,
    },
    asked,
    answered,
    prompts,
    count: (role) => answered.filter((each) => each === role).length,
    hold: async (role, nth = 1) => {
      const arrived = Promise.withResolvers<void>()
      const free = Promise.withResolvers<void>()
      holds.push({ role, left: nth, arrived: arrived.resolve, free: free.promise })
      await arrived.promise
      return free.resolve
    },
    dieAt: (role) => {
      deadAt = role
    },
    close,
  }
}

function roleOf({ system, messages, tools }: ModelCall): Role {
  if (tools.length > 0 && !system.includes('You plan changes')) return 'editor'
  if (system.includes('You are Scout A')) return 'scout_a'
  if (system.includes('You plan changes')) return 'strategy'
  return messages.some(({ text }) => text.includes('Why did verification')) ? 'diagnosis' : 'scout_b'
}

/** Each conversation of the Editor does what the test wants, then says that it is done. */
function scripted(options: ModelOptions): Responder {
  const { edits = () => [], strategies = (number) => `Another way, number ${number}, in src/add.js.` } =
    options
  let conversations = 0
  let questions = 0
  let current = respondWith([{ text: 'Done.' }])
  const scouts = { scout_a: options.scoutA ?? scoutA, scout_b: options.scoutB ?? scoutB }
  const text = (value: object | string): string => (typeof value === 'string' ? value : JSON.stringify(value))
  return {
    name: 'script',
    answer(incoming) {
      const role = roleOf(incoming.call)
      if (role === 'editor') {
        const begins = !incoming.call.messages.some((message) => message.role === 'assistant')
        if (begins) {
          conversations += 1
          const calls = edits(conversations, incoming.call.messages.map((each) => each.text).join('\n'))
          const done = { text: `Change ${conversations} is made.` }
          current = respondWith(calls.length === 0 ? [done] : [{ calls }, done])
        }
        return current.answer(incoming)
      }
      if (role === 'strategy') {
        questions += 1
        const strategy = strategies(questions)
        return respondWith([{ text: JSON.stringify({ strategy, why: 'The others failed.' }) }]).answer(
          incoming,
        )
      }
      const diagnosis = role === 'diagnosis' ? options.diagnosis : undefined
      const report = role === 'scout_a' ? scouts.scout_a : (diagnosis ?? scouts.scout_b)
      return respondWith([{ text: text(report) }]).answer(incoming)
    },
  }
}

function respondWith(turns: readonly object[]): Responder {
  return createScriptResponder(boundaryScriptSchema.parse({ turns, side: turns[0] }))
}
