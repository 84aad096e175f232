import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { type Point, versionChanges } from '../views/trends.tsx'
import { time } from './format.ts'

interface ChartProps {
  readonly title: string
  readonly groups: readonly (readonly [string, readonly Point[]])[]
  readonly measure: (point: Point) => number | null
  readonly format: (value: number) => string
  readonly range?: readonly [number, number]
  /** Whether runs are apart by their time or by one step each, named by their commit. */
  readonly by: 'time' | 'commit'
  readonly onChoose: (point: Point) => void
}

/** Colours that people who see fewer of them can tell apart; lines differ in their dashes, too. */
const colours = ['#0072b2', '#d55e00', '#009e73', '#b0549a', '#8a6d00', '#3d8fd1', '#6e6e6e']
const dashes = [[], [9, 4], [2, 4], [9, 4, 2, 4]]

/** One measure over time, a line for each agent. Points whose agent or Gantry has another version than before are rings. */
export function Chart({ title, groups, measure, format, range, by, onChoose }: ChartProps) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = box.current
    if (element === null) return
    const runs = [
      ...new Map(groups.flatMap(([, points]) => points.map((point) => [point.at, point]))).values(),
    ].sort((one, other) => Date.parse(one.at) - Date.parse(other.at))
    const order = new Map(runs.map(({ at }, index) => [at, index]))
    const xOf = ({ at }: Point): number => (by === 'time' ? Date.parse(at) / 1000 : (order.get(at) ?? 0))
    const times = [...new Set(runs.map(xOf))]
    const isShort = by === 'time' && (times.at(-1) ?? 0) - (times[0] ?? 0) < 600
    const named = (x: number): string => {
      if (by === 'time') return time(new Date(x * 1000).toISOString(), isShort)
      const commit = runs[x]?.commit ?? ''
      return commit === 'unknown' ? 'no commit' : commit.slice(0, 8)
    }
    const byTime = groups.map(([, points]) => new Map(points.map((point) => [xOf(point), point])))
    const series = byTime.map((points) =>
      times.map((at) => {
        const point = points.get(at)
        return point === undefined ? null : measure(point)
      }),
    )
    if (series.every((values) => values.every((value) => value === null))) return
    const ink = getComputedStyle(element).getPropertyValue('--faint')
    const line = getComputedStyle(element).getPropertyValue('--line')
    const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } }
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height: 200,
        title,
        cursor: { points: { size: 8 } },
        scales: {
          x: { time: by === 'time' },
          y: { range: (_, __, max) => (range === undefined ? [0, max * 1.1] : [range[0], range[1]]) },
        },
        axes: [
          {
            ...axis,
            label: by === 'time' ? 'when the run started' : 'commit of the run',
            labelSize: 20,
            size: 34,
            space: 80,
            ...(by === 'commit' && { incrs: [1, 2, 5, 10, 20, 50, 100] }),
            values: (_, values) => values.map(named),
          },
          {
            ...axis,
            label: title.toLowerCase(),
            labelSize: 20,
            size: 76,
            values: (_, values) => values.map((value) => format(value)),
          },
        ],
        series: [
          {
            label: by === 'time' ? 'Time' : 'Commit',
            value: (_, value) => (value == null ? '–' : named(value)),
          },
          ...groups.map(([name], index) => ({
            label: name,
            stroke: colours[index % colours.length] ?? ink,
            dash: dashes[index % dashes.length] ?? [],
            width: 2,
            spanGaps: true,
            points: { show: true, size: 6, filter: undefined as never },
            value: (_: uPlot, value: number | null) => (value == null ? '–' : format(value)),
          })),
        ],
        hooks: {
          draw: [
            (self) => {
              for (const [index, [, points]] of groups.entries())
                for (const [at, point] of points.entries()) {
                  const value = measure(point)
                  if (value === null || versionChanges(points[at - 1], point) === '') continue
                  const [x, y] = [self.valToPos(xOf(point), 'x', true), self.valToPos(value, 'y', true)]
                  self.ctx.strokeStyle = colours[index % colours.length] ?? ink
                  self.ctx.lineWidth = 2
                  self.ctx.beginPath()
                  self.ctx.arc(x, y, 9, 0, 2 * Math.PI)
                  self.ctx.stroke()
                }
            },
          ],
        },
      },
      [times, ...series] as uPlot.AlignedData,
      element,
    )
    const onClick = (): void => {
      const { idx, top = 0 } = plot.cursor
      const at = idx == null ? undefined : times[idx]
      if (at === undefined) return
      const far = (point: Point): number => Math.abs(plot.valToPos(measure(point) ?? 0, 'y') - top)
      const [nearest] = byTime
        .flatMap((points) => points.get(at) ?? [])
        .sort((one, other) => far(one) - far(other))
      if (nearest !== undefined) onChoose(nearest)
    }
    plot.over.addEventListener('click', onClick)
    const resize = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: 200 }))
    resize.observe(element)
    return () => {
      resize.disconnect()
      plot.destroy()
    }
  }, [title, groups, measure, format, range, by, onChoose])
  return (
    <div
      ref={box}
      className="chart"
      role="img"
      aria-label={`${title} over time; the table below has the numbers`}
    />
  )
}
