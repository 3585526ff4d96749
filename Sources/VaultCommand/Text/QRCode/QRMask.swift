/// A pattern that inverts data modules. It reduces the number of large areas of one colour, and of patterns that a
/// scanner could mistake for a finder (ISO/IEC 18004:2015, section 7.8).
enum QRMask: Int, CaseIterable {
    case checkered, rows, columns, diagonals, blocks, crosses, circles, gridded

    /// Returns whether the mask inverts the module at a row and column (section 7.8.2, table 10).
    func selects(_ row: Int, _ column: Int) -> Bool {
        let product = row * column
        let value =
            switch self {
            case .checkered: (row + column) % 2
            case .rows: row % 2
            case .columns: column % 3
            case .diagonals: (row + column) % 3
            case .blocks: (row / 2 + column / 3) % 2
            case .crosses: product % 2 + product % 3
            case .circles: (product % 2 + product % 3) % 2
            case .gridded: ((row + column) % 2 + product % 3) % 2
            }
        return value == 0
    }

    /// Returns the first mask that has the lowest penalty (section 7.8.3). Afterwards, no mask is applied to `matrix`.
    static func best(for matrix: inout QRMatrix) -> QRMask {
        var best = (mask: QRMask.checkered, penalty: Int.max)
        for mask in allCases {
            matrix.apply(mask)
            matrix.drawFormat(mask)
            let penalty = matrix.penalty
            if penalty < best.penalty { best = (mask, penalty) }
            matrix.apply(mask)
        }
        return best.mask
    }
}

// A mask's penalty measures how hard the masked code is to scan (ISO/IEC 18004:2015, section 7.8.3.1, table 11).

extension QRMatrix {
    var penalty: Int { linePenalty + blockPenalty + balancePenalty }

    /// The total penalty of all rows and columns, for runs of one colour and for patterns that resemble a finder.
    private var linePenalty: Int {
        (0..<size).reduce(0) { sum, line in sum + penalty { self[line, $0] } + penalty { self[$0, line] } }
    }

    /// Returns the penalty of a row or column: 3 for a run of five modules of one colour, 1 for each further module of
    /// the run, and 40 for each pattern that resembles a finder.
    private func penalty(ofLine isDark: (Int) -> Bool) -> Int {
        var penalty = 0
        var streak = 0
        // The light border counts as part of each row and column, and is wide enough to complete any finder pattern.
        var runs = LastRuns()
        var isRunDark = false
        var length = size
        for index in 0..<size {
            let module = isDark(index)
            streak = index > 0 && module == isRunDark ? streak + 1 : 1
            if streak == 5 { penalty += 3 } else if streak > 5 { penalty += 1 }
            guard module != isRunDark else {
                length += 1
                continue
            }
            runs.append(length)
            if module, runs.areOfFinder { penalty += 40 }
            isRunDark = module
            length = 1
        }
        if isRunDark {
            runs.append(length)
            length = 0
        }
        runs.append(length + size)
        return penalty + (runs.areOfFinder ? 40 : 0)
    }

    /// The penalty for areas of one colour: 3 for each two-by-two block of modules. Blocks may overlap.
    private var blockPenalty: Int {
        var count = 0
        for row in 1..<size {
            for column in 1..<size {
                let module = self[row, column]
                let isBlock =
                    module == self[row - 1, column] && module == self[row, column - 1]
                    && module == self[row - 1, column - 1]
                if isBlock { count += 1 }
            }
        }
        return 3 * count
    }

    /// The penalty for imbalance: 10 for each full 5 percentage points by which the dark fraction differs from 50%.
    private var balancePenalty: Int {
        let total = size * size
        let dark = (0..<total).count { self[$0 / size, $0 % size] }
        return abs(dark * 20 - total * 10) / total * 10
    }
}

/// The lengths of the last seven runs in a row or column. A run consists of adjacent modules of one colour.
private struct LastRuns {
    private var lengths = InlineArray<7, Int>(repeating: 0)

    mutating func append(_ length: Int) {
        for index in 1..<7 { lengths[index - 1] = lengths[index] }
        lengths[6] = length
    }

    /// Whether the runs form a finder pattern of any size: dark and light runs in the proportion 1:1:3:1:1 between two
    /// light runs, at least one of which is 4 units long or more.
    var areOfFinder: Bool {
        let unit = lengths[1]
        return unit > 0 && lengths[2] == unit && lengths[3] == 3 * unit && lengths[4] == unit && lengths[5] == unit
            && max(lengths[0], lengths[6]) >= 4 * unit
    }
}
