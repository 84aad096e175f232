import { resolve } from 'node:path'
import { GantryError } from '../../../core/error.ts'
import { parseJson } from '../../../core/json-fields.ts'
import { systemClock } from '../../../io/clock.ts'
import type { IncomingCall, Reply } from '../contract.ts'
import { isSideRequest } from '../model-call.ts'
import type { CassetteOptions } from './contract.ts'
import { describeMismatch } from './describe-mismatch.ts'
import { loadTape } from './load-tape.ts'
import { createNormaliser, type NormalRequest, namesTakenFrom, type RawRequest } from './normalise.ts'
import {
  type CassetteIndex,
  readCassetteIndex,
  readExchanges,
  recoverCassette,
} from './read-cassette-index.ts'
import { recordReply } from './record-reply.ts'
import { createPlaceCodec } from './recorded-directories.ts'
import { createRecording } from './recording.ts'
import { writeResponse } from './stored-response.ts'
import { createTape, type TapeExchange } from './tape.ts'
import { fillNames } from './tool-call-ids.ts'

/**
 * Opens a cassette for one trial: a recording of the exchanges between an agent and its model, a human-readable directory. Throws when the mode is impossible: nothing to replay, an interrupted recording, a
 * damaged file, another format version, a directory without write access, or another process that is recording into it.
 */
export function openCassette(given: CassetteOptions) {
  const options = { ...given, dir: resolve(given.dir) }
  const { dir, mode, redact, upstream } = options
  if (mode === 'record' && upstream === null)
    throw new GantryError('USAGE', 'there is no model to record from', {
      hint: 'Set an API key, or replay with --replay strict.',
    })
  recoverCassette(dir)
  const now = (): number => systemClock.now().getTime()
  const index = mode === 'record' ? null : readCassetteIndex(dir)
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
    // A new recording reads the request only when it is stored, after the agent has its answer.
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
    // The boundary itself answers token counts and model lists that a scripted model cannot answer.
    if (reply.kind === 'mismatch' || (reply.kind === 'turn' && isSideRequest(call.kind))) return reply
    return recordReply(reply, incoming, (kept) => recording.add({ incoming, request: asked, reply: kept }))
  }

  return {
    /** Answers from the recording, records, or both, depending on the mode. */
    responder: { name: mode === 'strict' ? 'replay' : mode, answer },
    /**
     * Marks the recording complete. Until then it is incomplete, and in mode `record` an older cassette stays in place.
     * Throws errors from writing exchanges, such as a full disk, which the agent did not see. Safe to call twice.
     */
    finish: recording.finish,
    /** Discards what mode `record` wrote, and releases the lock. Exchanges that `auto` added stay, as incomplete. */
    abandon: recording.abandon,
    summary: () => ({
      recorded: recording.count(),
      /** Answers from the recording, counting repetitions. */
      replayed,
      /** Recorded exchanges that were never requested. */
      unused: tape.exchanges.filter((exchange) => !tape.isUsed(exchange)).length,
    }),
  }
}

function checkReplayable(dir: string, index: CassetteIndex | null): void {
  const hint =
    'Record it first (--replay record, or gantry boundary record), or use --replay auto to add what is missing.'
  if (index === null) throw new GantryError('NOT_FOUND', `there is no cassette at ${dir}`, { hint })
  if (!index.complete)
    throw new GantryError('CORRUPT', `the cassette ${dir} is incomplete: its recording was interrupted`, {
      hint,
    })
}

/** One moment per hour is precise enough. */
function hoursOf(times: readonly number[]): readonly number[] {
  const byHour = new Map(times.map((time) => [Math.floor(time / 3_600_000), time]))
  return [...byHour.values()]
}

function rawRequest({ method, path, body }: IncomingCall['http']): RawRequest {
  const text = new TextDecoder().decode(body)
  const parsed = text === '' ? null : parseJson(text)
  return { method, path, body: parsed === undefined ? text : parsed }
}
