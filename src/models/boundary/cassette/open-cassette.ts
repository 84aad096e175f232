import { resolve } from 'node:path'
import { GantryError } from '../../../core/error.ts'
import { systemClock } from '../../../io/clock.ts'
import type { IncomingCall, Reply } from '../contract.ts'
import type { Cassette, CassetteOptions } from './contract.ts'
import { describeMismatch } from './describe-mismatch.ts'
import { loadTape } from './load-tape.ts'
import { createNormaliser, type NormalRequest, namesTakenFrom, type RawRequest } from './normalise.ts'
import { type CassetteIndex, readExchanges, readIndex, recoverCassette } from './read-directory.ts'
import { recordReply } from './record-reply.ts'
import { createPlaceCodec } from './recorded-directories.ts'
import { createRecording } from './recording.ts'
import { writeResponse } from './stored-response.ts'
import { createTape, type TapeExchange } from './tape.ts'
import { fillNames } from './tool-call-ids.ts'

/**
 * Opens a cassette for one trial. Throws when it cannot do what the mode asks for: nothing to replay, a recording that was
 * broken off, damage, another version, a directory that cannot be written, another process that records into it.
 */
export function openCassette(given: CassetteOptions): Cassette {
  const options = { ...given, dir: resolve(given.dir) }
  const { dir, mode, redact, upstream } = options
  if (mode === 'record' && upstream === null)
    throw new GantryError('USAGE', 'there is no model to record from', {
      hint: 'Give a key, or replay with --replay strict.',
    })
  recoverCassette(dir)
  const now = options.now ?? (() => systemClock.now().getTime())
  const index = mode === 'record' ? null : readIndex(dir)
  if (mode === 'strict') checkReplayable(dir, index)

  const recordedAt = index?.recorded_at ?? new Date(now()).toISOString()
  const places = createPlaceCodec(options.places)
  const files = index === null ? [] : readExchanges(dir, index)
  const times = [recordedAt, ...files.map(({ at }) => at)].map((at) => Date.parse(at))
  const normalise = createNormaliser({ places, moments: hoursOf([...times, now()]), redact })
  const tape = createTape()
  loadTape(dir, files, tape, normalise)
  const recording = createRecording({ ...options, now, places, normalise, tape, recordedAt, index })
  let replayed = 0

  function replay(exchange: TapeExchange, request: NormalRequest): Reply {
    replayed += 1
    const names = namesTakenFrom(request)
    const fill = (text: string): string => fillNames(places.fill(text), names)
    const { status, headers, chunks } = writeResponse(exchange.response(fill))
    return { kind: 'verbatim', status, headers, body: chunks, by: 'replay' }
  }

  async function answer(incoming: IncomingCall): Promise<Reply> {
    const { format, call, http } = incoming
    const { api } = format
    const asked = (): NormalRequest => normalise(rawRequest(http), api)
    // A new recording looks at the request only when it is kept, while the agent has its answer already.
    if (mode !== 'record') {
      const request = asked()
      const known = tape.take(api, request)
      if (known !== null) return replay(known, request)
    }
    if (mode === 'strict' || upstream === null) {
      const { kind, model } = call
      return {
        kind: 'mismatch',
        problem: describeMismatch(dir, { api, kind, model, request: asked() }, tape),
      }
    }
    const blocked = recording.begin()
    if (blocked !== null) return { kind: 'mismatch', problem: blocked }
    const reply = await upstream.answer(incoming)
    // Counts and lists that a scripted model knows nothing of are answered by the boundary itself.
    if (reply.kind === 'mismatch' || (reply.kind === 'turn' && isSide(incoming))) return reply
    return recordReply(reply, incoming, (kept) => recording.add({ incoming, request: asked, reply: kept }))
  }

  return {
    responder: { name: mode === 'strict' ? 'replay' : mode, answer },
    finish: recording.finish,
    abandon: recording.abandon,
    summary: () => ({
      recorded: recording.count(),
      replayed,
      unused: tape.exchanges.filter((exchange) => !tape.isUsed(exchange)).length,
    }),
  }
}

function checkReplayable(dir: string, index: CassetteIndex | null): void {
  const hint =
    'Record it first (--replay record, or gantry boundary record), or let auto add what is missing.'
  if (index === null) throw new GantryError('NOT_FOUND', `there is no cassette at ${dir}`, { hint })
  if (!index.complete)
    throw new GantryError('CORRUPT', `the cassette ${dir} is incomplete: its recording was broken off`, {
      hint,
    })
}

/** One moment for each hour is near enough. */
function hoursOf(times: readonly number[]): readonly number[] {
  const byHour = new Map(times.map((time) => [Math.floor(time / 3_600_000), time]))
  return [...byHour.values()]
}

function isSide({ call }: IncomingCall): boolean {
  return call.kind === 'count_tokens' || call.kind === 'list_models'
}

function rawRequest({ method, path, body }: IncomingCall['http']): RawRequest {
  const text = new TextDecoder().decode(body)
  try {
    return { method, path, body: text === '' ? null : JSON.parse(text) }
  } catch {
    return { method, path, body: text }
  }
}
