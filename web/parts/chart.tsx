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
  readonly onChoose: (point: Point) => void
}

const colours = ['#1f6feb', '#c2410c', '#15803d', '#9333ea', '#b91c1c', '#0e7490']

/** One measure over time, a line for each agent. Points whose agent or Gantry has another version than before are rings. */
export function Chart({ title, groups, measure, format, range, onChoose }: ChartProps) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = box.current
    if (element === null) return
    const times = [
      ...new Set(groups.flatMap(([, points]) => points.map(({ at }) => Date.parse(at) / 1000))),
    ].sort()
    const byTime = groups.map(
      ([, points]) => new Map(points.map((point) => [Date.parse(point.at) / 1000, point])),
    )
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
        scales: range === undefined ? {} : { y: { range: [range[0], range[1]] } },
        axes: [
          {
            ...axis,
            values: (_, values) => values.map((value) => time(new Date(value * 1000).toISOString())),
          },
          { ...axis, size: 70, values: (_, values) => values.map((value) => format(value)) },
        ],
        series: [
          { value: (_, value) => (value == null ? '' : time(new Date(value * 1000).toISOString())) },
          ...groups.map(([name], index) => ({
            label: name,
            stroke: colours[index % colours.length] ?? ink,
            width: 1.5,
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
                  const [x, y] = [
                    self.valToPos(Date.parse(point.at) / 1000, 'x', true),
                    self.valToPos(value, 'y', true),
                  ]
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
      const { idx } = plot.cursor
      const at = idx == null ? undefined : times[idx]
      const found = at === undefined ? undefined : byTime.map((points) => points.get(at)).find(Boolean)
      if (found !== undefined) onChoose(found)
    }
    plot.over.addEventListener('click', onClick)
    const resize = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: 200 }))
    resize.observe(element)
    return () => {
      resize.disconnect()
      plot.destroy()
    }
  }, [title, groups, measure, format, range, onChoose])
  return (
    <div
      ref={box}
      className="chart"
      role="img"
      aria-label={`${title} over time; the table below has the numbers`}
    />
  )
}
