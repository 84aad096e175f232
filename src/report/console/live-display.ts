import { Writable } from 'node:stream'
import { createLogUpdate } from 'log-update'
import type { ReporterContext } from '../contract.ts'
import type { Display, View } from './display.ts'

const redrawMs = 100

/**
 * A moving part below permanent lines. Lines are collected and drawn together with the next frame, so that thousands of fast
 * trials cost ten redraws a second and no more. The cursor is never hidden, because a killed process could not show it again.
 */
export function liveDisplay(context: ReporterContext): Display {
  const size = context.size ?? (() => ({ columns: context.columns, rows: 24 }))
  const update = createLogUpdate(terminal(context, size), { showCursor: true })
  let pending: string[] = []
  let view: View | null = null
  let timer: NodeJS.Timeout | undefined
  const draw = (): void => {
    if (pending.length > 0) update.persist(pending.join('\n'))
    pending = []
    if (view !== null) update(view.frame(size()))
  }
  return {
    line(text) {
      pending.push(text)
      if (view === null) draw()
    },
    start(started) {
      view = started
      timer = setInterval(draw, redrawMs)
      timer.unref()
      draw()
    },
    stop() {
      clearInterval(timer)
      view = null
      update.clear()
      draw()
    },
  }
}

/** log-update needs a stream with a size. */
function terminal(
  { sink }: ReporterContext,
  size: () => { readonly columns: number; readonly rows: number },
): NodeJS.WritableStream {
  const stream = new Writable({
    decodeStrings: false,
    write(text, _encoding, done) {
      sink.write(String(text))
      done()
    },
  })
  Object.defineProperties(stream, {
    columns: { get: () => size().columns },
    rows: { get: () => size().rows },
    isTTY: { value: true },
  })
  return stream
}
