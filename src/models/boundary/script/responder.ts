import type { ModelCall, Reply, Responder } from '../contract.ts'
import type { EncodedReply } from '../wire/contract.ts'
import { answersIn, opening } from './conversation.ts'
import { inputTokens } from './estimate-usage.ts'
import { fillPlaces, type Places } from './places.ts'
import { ruleFits } from './rule-fits.ts'
import type { BoundaryScript, ScriptTurn } from './schema.ts'
import { subagentWait } from './subagent-wait.ts'
import { createTurnList, type TurnList } from './turn-list.ts'
import { replyWith, replyWithCall } from './turn-reply.ts'
import { viewWorkspace } from './workspace-view.ts'

const defaultSide: ScriptTurn = { text: 'Scripted session' }

/** Answers from a script. One responder belongs to one session: it remembers which errors were given. */
export function createScriptResponder(script: BoundaryScript, places: Places = {}): Responder {
  const { turns, rules, side, compaction, models, pick } = fillPlaces(script, places)
  const view = viewWorkspace(places.workspace)
  const ruled = rules.map((rule, index) => ({
    rule,
    part: createPart(`r${index + 1}_`, createTurnList(rule.turns, rule.pick ?? pick)),
  }))
  const unruled = {
    turn: createPart('', createTurnList(turns, pick)),
    side: createPart('s_', createTurnList([side ?? defaultSide], 'index')),
    compaction: createPart('c_', createTurnList([compaction], 'index')),
  }
  let toolsWereOffered = false
  /** A program without tools has no side calls. A list that is counted off must not lose a turn to somebody's title. */
  const partOf = (call: ModelCall, kind: keyof typeof unruled): Part => {
    toolsWereOffered ||= call.tools.length > 0
    const isPlain = side === undefined && pick === 'index' && !toolsWereOffered
    return kind === 'side' && isPlain && turns[answersIn(call)]?.calls === undefined
      ? unruled.turn
      : unruled[kind]
  }
  return {
    name: 'script',
    async answer({ call, format, signal }) {
      if (call.kind === 'count_tokens') return verbatim(format.encodeCount(inputTokens(call)))
      if (call.kind === 'list_models') return verbatim(format.encodeModels(models))
      const wait = subagentWait(call)
      if (wait !== null) return replyWithCall({ kind: 'tool_call', ...wait }, call)
      const part = ruled.find(({ rule }) => ruleFits(rule, call))?.part ?? partOf(call, call.kind)
      // Picked before anything is waited for: the order of arrival counts.
      const { turn, id } = part.next(call)
      return replyWith(turn, { call, id, view, signal })
    },
  }
}

/** One list of turns, and the ids its calls get: unique in the session, and the same for the same request. */
interface Part {
  next(call: ModelCall): { readonly turn: ScriptTurn; readonly id: string }
}

function createPart(name: string, list: TurnList): Part {
  const conversations = new Map<string, number>()
  return {
    next(call) {
      const { turn, number } = list.pick(answersIn(call))
      const key = opening(call)
      const conversation = conversations.get(key) ?? conversations.size + 1
      conversations.set(key, conversation)
      const prefix = call.api === 'anthropic' ? 'toolu' : 'call'
      return { turn, id: `${prefix}_${name}${conversation === 1 ? '' : `v${conversation}_`}${number}` }
    },
  }
}

function verbatim({ status, headers, chunks }: EncodedReply): Reply {
  return { kind: 'verbatim', status, headers, body: chunks }
}
