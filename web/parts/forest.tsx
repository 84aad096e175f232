interface Row {
  readonly name: string
  readonly value: number | null
  readonly low: number | null
  readonly high: number | null
  readonly text: string
}

const [width, height] = [420, 26]

/** Values with their intervals on one axis, and a line where nothing would have changed. */
export function Forest({
  rows,
  from,
  to,
  zero,
  margin = 0,
  label,
}: {
  readonly rows: readonly Row[]
  readonly from: number
  readonly to: number
  readonly zero: number
  /** Differences inside of it do not matter. */
  readonly margin?: number
  readonly label: string
}) {
  const x = (value: number): number => ((Math.max(from, Math.min(to, value)) - from) / (to - from)) * width
  return (
    <dl className="forest" aria-label={label}>
      {rows.map(({ name, value, low, high, text }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
              {margin > 0 && (
                <rect
                  x={x(zero - margin)}
                  y={0}
                  width={x(zero + margin) - x(zero - margin)}
                  height={height}
                  className="forest-margin"
                />
              )}
              <line x1={x(zero)} x2={x(zero)} y1={0} y2={height} className="forest-zero" />
              {low !== null && high !== null && (
                <line x1={x(low)} x2={x(high)} y1={height / 2} y2={height / 2} className="forest-range" />
              )}
              {value !== null && (
                <rect x={x(value) - 3} y={height / 2 - 6} width={6} height={12} className="forest-value" />
              )}
            </svg>
            <span>{text}</span>
          </dd>
        </div>
      ))}
    </dl>
  )
}
