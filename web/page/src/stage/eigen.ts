/** Eigenvectors of a small symmetric matrix by Jacobi rotations. */

export interface Eigen {
  values: number[];
  /** vectors[k] is the unit eigenvector of values[k]; largest value first. */
  vectors: number[][];
}

export function symmetricEigen(matrix: readonly (readonly number[])[]): Eigen {
  const size = matrix.length;
  const a = matrix.map((row) => [...row]);
  const v = matrix.map((_, i) => matrix.map((__, j) => (i === j ? 1 : 0)));
  const at = (m: number[][], i: number, j: number): number => (m[i] as number[])[j] as number;
  for (let sweep = 0; sweep < 40; sweep++) {
    let off = 0;
    for (let i = 0; i < size; i++) for (let j = 0; j < i; j++) off += at(a, i, j) ** 2;
    if (off < 1e-22) break;
    for (let p = 0; p < size; p++) for (let q = p + 1; q < size; q++) rotate(a, v, p, q);
  }
  const order = a.map((_, i) => i).sort((i, j) => at(a, j, j) - at(a, i, i));
  return {
    values: order.map((i) => at(a, i, i)),
    vectors: order.map((i) => v.map((row) => row[i] as number)),
  };
}

function rotate(a: number[][], v: number[][], p: number, q: number): void {
  const [rowP, rowQ] = [a[p], a[q]] as [number[], number[]];
  const pq = rowP[q] as number;
  if (Math.abs(pq) < 1e-300) return;
  const theta = ((rowQ[q] as number) - (rowP[p] as number)) / (2 * pq);
  const t = (theta >= 0 ? 1 : -1) / (Math.abs(theta) + Math.hypot(theta, 1));
  const c = 1 / Math.hypot(t, 1);
  const s = t * c;
  const turn = (m: number[][]): void => {
    for (const row of m) {
      const [x, y] = [row[p], row[q]] as [number, number];
      row[p] = c * x - s * y;
      row[q] = s * x + c * y;
    }
  };
  turn(a);
  for (let k = 0; k < a.length; k++) {
    const [x, y] = [rowP[k], rowQ[k]] as [number, number];
    rowP[k] = c * x - s * y;
    rowQ[k] = s * x + c * y;
  }
  turn(v);
}
